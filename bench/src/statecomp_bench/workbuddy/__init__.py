"""WorkBuddyBench: jobs for its framework, and the paper's tables from what it leaves behind.

Its framework runs an agent CLI in Docker, with a proxy of its own on the host between the agent and
the model.  The StateComp arm differs in one line: that proxy sends its requests on to `statecomp
serve`.  Files and fields follow the framework's public source (commit b516950) and its runner
Harbor; the tasks themselves are on a dataset hub, so nothing here has been run against them.

    results/JOB/TIMESTAMP/TASK__ID/     a trial; Harbor cuts TASK to 32 characters
      result.json                       task_name, agent_result, exception_info, started_at, ...
      verifier/score.json, reward.json  the reward, 0 to 1
      agent/requests.jsonl              each model call with its usage (`record_full_io: true`)
"""
