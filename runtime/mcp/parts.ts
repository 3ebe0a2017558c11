/** What `/mcp` is made of. */
import type { Gateway } from '../gateway.ts'
import type { Registry } from '../registry.ts'
import type { RouteTable } from '../routes.ts'

export interface McpParts {
  gateway: Gateway
  registry: Registry
  routes: RouteTable
}
