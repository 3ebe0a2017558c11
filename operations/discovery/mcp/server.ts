/**
 * `/mcp`: the tools for assistants (Model Context Protocol over Streamable HTTP). It keeps no state between requests,
 * so any instance answers any of them. Every tool call goes through the gateway with the caller's key.
 */
import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Services } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { ApiError, refuse } from '#runtime/errors'
import { listNeededScopes } from '#runtime/gateway/access'
import { jsonHeaders, toErrorAnswer, toResponse } from '#runtime/gateway/answers'
import { parseJson } from '#runtime/gateway/input'
import type { SurfaceParts } from '#runtime/gateway/surface'
import { bodyAtMost, readBytes, utf8Text } from '#runtime/http/body'
import { withRequestedUrl } from '#runtime/http/loopback'
import { allScopes } from '#runtime/roles'
import { z } from '#runtime/schema'
import { Caller } from './caller.ts'
import { withoutLinks } from './links.ts'
import { runTool, tools } from './tools.ts'

const instructions =
  "Runs one online store through its REST API. Find an operation with list_operations, in the merchant's own words; " +
  'read describe_operation before the first call of each; then read_operation for those with readOnly true, else ' +
  'call_operation. Operations with readOnly false change ' +
  'the store, and some write to customers or cost money: ask the merchant first.'

/** Answers a request to `/mcp`. `ip`: the client address for rate limits. */
export async function answerMcp(parts: SurfaceParts, request: Request, ip: string): Promise<Response> {
  const services = withRequestedUrl(parts.gateway.services, request.url)
  const authorization = request.headers.get('authorization') ?? ''
  const caller = new Caller(parts, authorization, ip)
  const entry = await caller.enter()
  if ('refusal' in entry) {
    const answer = toResponse(entry.refusal)
    const error = authorization === '' ? null : 'invalid_token'
    if (answer.status === 401) answer.headers.set('www-authenticate', buildChallenge(services, error))
    return answer
  }
  const { origin } = new URL(services.settings.publicUrl)
  const from = request.headers.get('origin')
  if (from !== null && from !== origin) {
    throw new ApiError('forbidden', 'Pages of other sites may not call this address')
  }
  if (request.method !== 'POST') {
    const refusal = refuse('bad_request', 'This address takes POST alone')
    const headers = { ...jsonHeaders(entry.headers['x-request-id']!), ...entry.headers, allow: 'POST' }
    return toResponse({ ...toErrorAnswer(refusal, headers), status: 405 })
  }
  const length = request.headers.get('content-length') ?? undefined
  const sent = utf8Text(await readBytes(request, length, bodyAtMost))
  let message: unknown
  try {
    message = parseJson(sent)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return answerError(400, null, ProtocolErrorCode.ParseError, error.message, entry.headers)
  }
  // Each message of a batch counts as a call.
  for (let i = 1; Array.isArray(message) && i < message.length; i += 1) {
    const more = await caller.enter()
    if ('refusal' in more) return toResponse(more.refusal)
  }

  const missing = await findMissingScopes(caller, message)
  if (missing) return answerMissingScopes(services, missing, entry.headers)
  const parsedBody = message ?? null
  const answer = (await isLegacyRequest(request, parsedBody))
    ? await answerOlder(caller, request, parsedBody)
    : await answerCurrent(caller, request, parsedBody)
  const headers = new Headers(answer.headers)
  for (const [name, value] of Object.entries(entry.headers)) headers.set(name, value)
  return new Response(answer.body, { status: answer.status, headers })
}

/** Handles protocol versions until 2025-11-25, which begin with a handshake. Their sessions are not needed here. */
async function answerOlder(caller: Caller, request: Request, parsedBody: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: true,
    maxRequestBodySize: bodyAtMost,
  })
  await createServer(caller, request.headers.get('mcp-protocol-version') ?? '').connect(transport)
  return transport.handleRequest(request, { parsedBody })
}

/** Handles the protocol since 2026-07-28, which is stateless. */
async function answerCurrent(caller: Caller, request: Request, parsedBody: unknown): Promise<Response> {
  const listening = listenRequest.safeParse(parsedBody)
  if (listening.success) {
    return answerError(404, listening.data.id, ProtocolErrorCode.MethodNotFound, 'Method not found')
  }
  return createMcpHandler(() => createServer(caller), { legacy: 'reject' }).fetch(request, { parsedBody })
}

/** Not offered, because nothing here changes while the server runs. The SDK would open a stream that stays silent. */
const listenRequest = z.object({
  method: z.literal('subscriptions/listen'),
  id: z.union([z.string(), z.number()]),
})

/** The first protocol version with a feature that clients of earlier ones refuse. They send no version in a header. */
const since = { links: '2025-06-18' }

/** The tools are the same for every key, and until the next release. */
const unchanging = { ttlMs: hourMs, cacheScope: 'public' } as const

function createServer(caller: Caller, version = since.links): Server {
  const server = new Server(
    { name: 'merchant-api', title: 'Merchant API', version: '1.0.0' },
    { capabilities: { tools: {} }, instructions, cacheHints: { 'tools/list': unchanging } },
  )
  server.setRequestHandler('tools/list', () => ({ tools }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const result = await runTool(caller, params.name, params.arguments ?? {}, mcpReq)
    return version < since.links ? withoutLinks(result) : result
  })
  return server
}

/** A JSON-RPC error (JSON-RPC 2.0, section 5.1). */
function answerError(
  status: number,
  id: string | number | null,
  code: ProtocolErrorCode,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ jsonrpc: '2.0', id, error: { code, message } }, { status, headers })
}

const toolCall = z.object({
  method: z.literal('tools/call'),
  params: z.object({ arguments: z.object({ operationId: z.string() }) }),
})

/**
 * Returns the scopes that an assistant has to ask the merchant for before it can run the operation, including those it
 * has; null if it lacks none. Only an assistant that connected by OAuth can ask for more.
 */
async function findMissingScopes(caller: Caller, message: unknown): Promise<string[] | null> {
  const called = toolCall.safeParse(message)
  if (!called.success) return null
  const operation = caller.registry.byId(called.data.params.arguments.operationId)
  const access = operation ? await caller.access() : null
  return operation && access?.parentKeyId ? listNeededScopes(operation, access) : null
}

/** The answer that makes a client ask for more scopes (RFC 6750, section 3.1). */
function answerMissingScopes(
  services: Services,
  scopes: readonly string[],
  headers: Record<string, string>,
): Response {
  const challenge = buildChallenge(services, 'insufficient_scope', scopes)
  const description = 'The merchant has not granted this permission to the assistant'
  return Response.json(
    { error: 'insufficient_scope', error_description: description },
    { status: 403, headers: { ...headers, 'www-authenticate': challenge } },
  )
}

/** Builds the `WWW-Authenticate` challenge with the metadata URL (RFC 9728, section 5.1) and the scopes to ask for. */
function buildChallenge(
  { extensions, settings }: Services,
  error: 'invalid_token' | 'insufficient_scope' | null,
  scopes: readonly string[] = allScopes,
): string {
  if (extensions.resourceMetadata === null) return 'Bearer'
  const parts = {
    ...(error === null ? {} : { error }),
    scope: scopes.join(' '),
    resource_metadata: `${settings.publicUrl}${extensions.resourceMetadata.path}`,
  }
  const listed = Object.entries(parts).map(([name, value]) => `${name}="${value}"`)
  return `Bearer ${listed.join(', ')}`
}
