"""Settings for all tests."""

from hypothesis import HealthCheck, settings

# A busy machine is no defect: no test asserts how long an example takes.
settings.register_profile("statecomp", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("statecomp")
