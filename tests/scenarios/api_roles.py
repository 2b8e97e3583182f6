"""What each path of the API needs, for api_access.py."""

ROLES = ("viewer", "client", "operator", "admin", "payloads", "deploy", "webhooks", "agent", "vouch")
EVERYBODY = set(ROLES)
# What each path needs, by hand from docs/security.md: the roles that are not answered with 403.
LOOKS = {"viewer", "operator", "admin", "deploy"}
SEES = {"viewer", "client", "operator", "admin"}
ALLOWED = {
    ("GET", "/v1/version"): EVERYBODY, ("GET", "/v1/openapi.json"): EVERYBODY, ("GET", "/v1/problems/not_found"): EVERYBODY, ("GET", "/v1/me"): EVERYBODY,
    ("GET", "/v1/tasks"): SEES, ("GET", "/v1/ended"): SEES, ("POST", "/v1/tasks"): {"client", "admin"}, ("POST", "/v1/tasks:batch"): {"client", "admin"},
    ("POST", "/v1/clients/client-1/replies:take"): {"client", "admin"},
    ("POST", "/v1/tasks:states"): SEES, ("GET", "/v1/tasks/anna-1"): SEES, ("PUT", "/v1/tasks/anna-1"): {"client", "admin"},
    ("GET", "/v1/tasks/anna-1/history"): SEES, ("GET", "/v1/tasks/anna-1/events"): SEES,
    ("GET", "/v1/tasks/anna-1/input"): {"client", "admin"},
    ("GET", "/v1/tasks/anna-1/steps/reserve/input"): {"client", "admin"}, ("GET", "/v1/tasks/anna-1/steps/reserve/output"): {"client", "admin"},
    ("POST", "/v1/tasks/anna-1/signals/approved"): {"client", "admin"},
    ("POST", "/v1/tasks/anna-1/actions"): {"operator", "admin"}, ("POST", "/v1/tasks:act"): {"operator", "admin"},
    ("GET", "/v1/operations"): SEES, ("GET", "/v1/operations/x"): SEES, ("GET", "/v1/operations/x/events"): SEES,
    ("POST", "/v1/operations/x/actions"): {"operator", "admin"},
    ("GET", "/v1/workflows"): LOOKS, ("POST", "/v1/workflows"): {"deploy", "admin"}, ("POST", "/v1/workflows:check"): LOOKS,
    ("GET", "/v1/workflows/order"): LOOKS, ("DELETE", "/v1/workflows/nothing"): {"deploy", "admin"},
    ("GET", "/v1/jobs"): LOOKS, ("POST", "/v1/jobs:apply"): {"deploy", "admin"}, ("POST", "/v1/jobs:next"): LOOKS,
    ("GET", "/v1/jobs/nothing"): LOOKS, ("PUT", "/v1/jobs/nothing"): {"deploy", "admin"}, ("DELETE", "/v1/jobs/nothing"): {"deploy", "admin"},
    ("GET", "/v1/jobs/nothing/launches"): LOOKS, ("POST", "/v1/jobs/nothing/actions"): {"operator", "admin"},
    ("GET", "/v1/agents"): LOOKS, ("GET", "/v1/agents/payment"): LOOKS, ("POST", "/v1/agents/nothing/actions"): {"operator", "admin"},
    ("POST", "/v1/workers"): {"agent", "admin"}, ("DELETE", "/v1/workers/x"): {"agent", "admin"}, ("POST", "/v1/workers/x/take"): {"agent", "admin"},
    ("POST", "/v1/workers/x/heartbeats"): {"agent", "admin"}, ("POST", "/v1/workers/x/outcomes"): {"agent", "admin"},
    ("POST", "/v1/workers/x/drain"): {"agent", "admin"},
    ("GET", "/v1/alerts"): LOOKS, ("POST", "/v1/alerts:ack"): {"operator", "admin"}, ("GET", "/v1/alerts/1"): LOOKS,
    ("POST", "/v1/brake:release"): {"operator", "admin"},
    ("GET", "/v1/status"): LOOKS, ("GET", "/v1/cluster"): LOOKS, ("GET", "/v1/nodes"): LOOKS, ("GET", "/v1/nodes/n1/tree"): LOOKS,
    # Of the roles that may send requests of the command line, what they send is no message here.
    ("POST", "/v1/requests/StatusRequest"): LOOKS,
    ("GET", "/v1/audit"): {"admin"}, ("POST", "/v1/nodes/nothing/actions"): {"admin"}, ("POST", "/v1/doctor"): {"admin"},
}
