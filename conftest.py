"""Settings for all tests."""

import os

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "statecomp")
# A busy machine is no defect: no test asserts how long an example takes.
# The same examples each time, so that a red run can be run again; `make fuzz` draws new ones.
settings.register_profile(
    "statecomp",
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "fuzz",
    deadline=None,
    max_examples=1000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(PROFILE)
if PROFILE != "fuzz":
    # Constants of whatever is loaded would be drawn too: a test alone would see other examples than
    # among all, and every worker would parse the whole project for them.
    vars(providers)["_get_local_constants"] = Constants

pytest_plugins = ["tests.garbage", "tests.longest_first", "tests.processor"]
