/**
 * `/mcp`: the tools for assistants (Model Context Protocol over Streamable HTTP). It keeps no state between requests,
 * so any instance answers any of them. What a tool does goes through the gateway under the caller's key.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { errorBody, Refusal, statusOf } from '../errors.ts'
import type { Gateway } from '../gateway.ts'
import type { Registry } from '../registry.ts'
import type { RouteTable } from '../routes.ts'
import { Caller } from './caller.ts'
import { runTool, tools } from './tools.ts'

const bodyAtMost = 15 * 1024 * 1024

const instructions =
  "Runs one online store through its REST API. Find an operation with list_operations, in the merchant's own words; " +
  'read describe_operation before the first call of each; then call_operation. Operations with readOnly false change ' +
  'the store, and some write to customers or cost money: ask the merchant first.'

export interface McpParts {
  gateway: Gateway
  registry: Registry
  routes: RouteTable
}

/** Answers a request to `/mcp`. `ip`: the address that counts for the limits. */
export async function answerMcp(parts: McpParts, request: Request, ip: string): Promise<Response> {
  const { origin } = new URL(parts.gateway.services.settings.publicUrl)
  const from = request.headers.get('origin')
  if (from !== null && from !== origin) {
    return refused(new Refusal('forbidden', 'Pages of other sites may not call this address'))
  }
  if (request.method !== 'POST') {
    return new Response(null, { status: 405, headers: { allow: 'POST' } })
  }
  const caller = new Caller(parts, request.headers.get('authorization') ?? '', ip)
  if ((await caller.access()) === null) {
    // The gateway refuses it, and counts the address that tries keys.
    const { status, body, headers } = await caller.listing()
    return new Response(body, { status, headers })
  }

  const server = new Server(
    { name: 'merchant-api', title: 'Merchant API', version: '1.0.0' },
    { capabilities: { tools: {} }, instructions },
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
    runTool(caller, params.name, params.arguments ?? {}),
  )
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: true,
    maxRequestBodySize: bodyAtMost,
  })
  await server.connect(transport)
  return transport.handleRequest(request)
}

const refused = ({ code, message, headers }: Refusal): Response =>
  new Response(errorBody(code, message), {
    status: statusOf(code),
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  })
