"""Settings for all tests."""

import os

from hypothesis import HealthCheck, settings

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
pytest_plugins = ["tests.garbage", "tests.processor"]
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "statecomp"))
