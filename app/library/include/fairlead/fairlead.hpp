#pragma once
// Everything: agents, nodes, workflows and clients. C++17; docs/cpp.md explains it.

#include <fairlead/agent.hpp>
#include <fairlead/client.hpp>
#include <fairlead/node.hpp>
#include <fairlead/workflow.hpp>
