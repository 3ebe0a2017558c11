/** The four tools of `/mcp`. All their information about operations comes from the registry. */
import {
  type CallToolResult,
  type InputRequiredResult,
  type JSONValue,
  ProtocolError,
  ProtocolErrorCode,
  type ResourceLink,
  type Tool,
} from '@modelcontextprotocol/server'
import { listRunnable } from '#runtime/documents/descriptors'
import { ApiError, errorBody, refuse } from '#runtime/errors'
import { checkAccess } from '#runtime/gateway/access'
import { parseInput } from '#runtime/gateway/input'
import { parseWarnings } from '#runtime/gateway/warnings'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { consequenceKinds } from '#runtime/roles'
import { object, z } from '#runtime/schema'
import { truncate } from '#runtime/values/truncate'
import type { Caller, Request as OperationRequest } from './caller.ts'
import { askMerchant, type ConfirmingClient } from './confirmation.ts'
import { listConsequences } from './consequences.ts'
import { describeOperation } from './describe.ts'
import { limitBody } from './limit-body.ts'
import { listFiles, toFollow } from './links.ts'
import { findNearestIds, OperationSearch } from './search.ts'

const text = { type: 'string' } as const
const objectSchema = (properties: Record<string, JSONValue>, required: string[]) =>
  ({ type: 'object', properties, required, additionalProperties: false }) as const
const values = (description: string) => ({ type: 'object', description, additionalProperties: true })

const pathValues = values('Path parameters by name')
const queryValues = values('Query parameters by name; lists as arrays')
const truncated = { type: 'string', description: 'Only where the answer was too long: how to get the rest' }

const consequences = {
  type: 'array',
  description: 'What cannot be taken back: ask the merchant first',
  items: { type: 'string', enum: [...consequenceKinds] },
} as const

export const tools: Tool[] = [
  {
    name: 'list_operations',
    title: 'Find operations',
    description:
      'Finds the operations of the store that this key may run, in English, Portuguese and Spanish. Without query, all of them in order, page by page.',
    inputSchema: objectSchema(
      {
        query: {
          ...text,
          description: 'What the merchant wants, in their words: "who left without paying?"',
        },
        section: { ...text, description: 'Only this section, such as Inbox' },
        readOnly: { type: 'boolean', description: 'true: only reads; false: only writes' },
        limit: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
        offset: { type: 'integer', minimum: 0, default: 0 },
      },
      [],
    ),
    outputSchema: {
      type: 'object',
      properties: {
        operations: {
          type: 'array',
          description: 'Best first',
          items: {
            type: 'object',
            properties: {
              operationId: text,
              section: text,
              description: text,
              readOnly: { type: 'boolean' },
              consequences,
            },
            required: ['operationId', 'section', 'description', 'readOnly'],
          },
        },
        total: { type: 'integer' },
        sections: {
          type: 'array',
          description: 'Only where nothing was found: what there is to look through with `section`',
          items: {
            type: 'object',
            properties: { section: text, description: text },
            required: ['section', 'description'],
            additionalProperties: false,
          },
        },
      },
      required: ['operations', 'total'],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: 'describe_operation',
    title: 'Describe an operation',
    description:
      'Path, query, body and answer of an operation as JSON Schema, what it needs and changes, and an example call.',
    inputSchema: objectSchema({ operationId: text }, ['operationId']),
    outputSchema: {
      type: 'object',
      properties: {
        operationId: text,
        method: text,
        path: text,
        description: text,
        readOnly: { type: 'boolean' },
        consequences,
        lookFirst: {
          type: 'array',
          description:
            'Reads that show whom it reaches, how it looks, what it costs: run them, tell the merchant, then ask',
          items: text,
        },
        pathParameters: { type: 'array' },
        query: { type: ['object', 'null'] },
        body: { type: ['object', 'null'] },
        answer: { type: 'object' },
        refusals: { type: 'object', description: 'When it refuses, by error code' },
        example: {
          type: 'object',
          description: 'Arguments for read_operation where readOnly is true, else for call_operation',
        },
      },
      required: ['operationId', 'method', 'path', 'description', 'readOnly', 'answer', 'example'],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: 'read_operation',
    title: 'Read from the store',
    description: 'Runs an operation whose readOnly is true: it changes nothing and costs nothing.',
    inputSchema: objectSchema({ operationId: text, path: pathValues, query: queryValues }, ['operationId']),
    outputSchema: {
      type: 'object',
      properties: { status: { type: 'integer' }, body: {}, truncated },
      required: ['status', 'body'],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: 'call_operation',
    title: 'Run an operation',
    description:
      'Runs any operation. Ask first where readOnly is false: it may change data, write to customers or cost money.',
    inputSchema: objectSchema(
      {
        operationId: text,
        path: pathValues,
        query: queryValues,
        body: values('The body'),
        idempotencyKey: {
          ...text,
          description: 'Of a write: within 24 hours the same call with it has one effect and one answer',
        },
      },
      ['operationId'],
    ),
    outputSchema: {
      type: 'object',
      properties: {
        status: { type: 'integer' },
        body: { description: 'null where there is none' },
        truncated,
        replayed: { type: 'boolean', description: 'Answered before, by the idempotencyKey' },
        follow: {
          type: 'object',
          description:
            'Only for status 202: arguments of read_operation that show how far the work is; a notification about it has its jobId in data',
        },
        warnings: {
          type: 'array',
          description:
            'Only where there are some: what was saved and should be looked at again. Tell the merchant.',
          items: text,
        },
      },
      required: ['status', 'body', 'replayed'],
    },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  },
]

/**
 * Parses an argument that a client sent as JSON text, such as `body: "{…}"` or `limit: "3"` (Claude Code and others), where
 * the schema takes an object, a number or a boolean.
 */
const fromText = <S extends z.ZodTypeAny>(schema: S) =>
  z.preprocess((value) => {
    if (typeof value !== 'string') return value
    try {
      return JSON.parse(value)
    } catch {
      return value
    }
  }, schema)

const record = fromText(z.record(z.unknown()).optional())
const pathRecord = fromText(z.record(z.union([z.string(), z.number(), z.boolean()])).optional())
const inputs = {
  list_operations: object({
    query: z.string().max(500).default(''),
    section: z.string().max(100).optional(),
    readOnly: fromText(z.boolean().optional()),
    limit: fromText(z.number().int().min(1).max(100).default(10)),
    offset: fromText(z.number().int().min(0).default(0)),
  }),
  describe_operation: object({ operationId: z.string().max(200) }),
  read_operation: object({ operationId: z.string().max(200), path: pathRecord, query: record }),
  call_operation: object({
    operationId: z.string().max(200),
    path: pathRecord,
    query: record,
    body: record,
    idempotencyKey: z.string().max(255).optional(),
  }),
}

/**
 * Runs a tool. A refusal becomes a tool error with the gateway's code and message. Throws for a tool that does not exist.
 */
export async function runTool(
  caller: Caller,
  name: string,
  args: Record<string, unknown>,
  client: ConfirmingClient,
): Promise<CallToolResult | InputRequiredResult> {
  const given = withoutBlanks(args)
  try {
    switch (name) {
      case 'list_operations':
        return await list(caller, parseInput(inputs.list_operations, given, 'body'))
      case 'describe_operation':
        return await describe(caller, parseInput(inputs.describe_operation, given, 'body'))
      case 'read_operation':
        return await read(caller, parseInput(inputs.read_operation, given, 'body'))
      case 'call_operation':
        return await call(caller, parseInput(inputs.call_operation, given, 'body'), client)
      default:
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `There is no tool ${truncate(name, 80)}: there are ${Object.keys(inputs).join(', ')}`,
        )
    }
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    const { code, message } = error instanceof ApiError ? error : caller.logFailure(name, error)
    return toolError(errorBody(code, message))
  }
}

/**
 * Removes a tool's arguments that are null or ''. Many clients (CrewAI, NeMo, Langflow) and models in strict mode send
 * every argument, and send unused ones like that. Only top-level arguments are removed: inside them, null and '' may have
 * a meaning.
 */
const withoutBlanks = (args: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null && value !== ''))

const toolError = (body: string): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: body }],
})
const result = (structuredContent: Record<string, unknown>, files: ResourceLink[] = []): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(structuredContent) }, ...files],
  structuredContent,
})

/**
 * Lists the operations that the key may run. Calls `GET /operations` first, so that the call counts against the rate
 * limit, and an invalid key is refused with the gateway's own error.
 */
async function runnable(caller: Caller): Promise<LoadedOperation[]> {
  const { status, body } = await caller.listing()
  if (status !== 200) {
    const { error } = JSON.parse(body) as { error: { code: ApiError['code']; message: string } }
    throw new ApiError(error.code, error.message)
  }
  const access = await caller.access()
  if (!access) throw refuse('unauthorized', 'The API key is no longer valid')
  return listRunnable(caller.registry, access, caller.now()).filter(isOffered)
}

async function list(
  caller: Caller,
  { query, section, readOnly, limit, offset }: z.infer<typeof inputs.list_operations>,
): Promise<CallToolResult> {
  const allowed = (await runnable(caller)).filter(
    (each) => readOnly === undefined || each.spec.readOnly === readOnly,
  )
  const sections = new Map(caller.registry.sections.map((each) => [each.title.toLowerCase(), each]))
  const sectionName = section?.trim().toLowerCase()
  if (sectionName !== undefined && !sections.has(sectionName)) {
    const titles = caller.registry.sections.map((each) => each.title)
    throw refuse('bad_request', `section: must be one of ${titles.join(', ')}`)
  }
  const within =
    sectionName === undefined ? allowed : allowed.filter((each) => each.section === sections.get(sectionName))
  const found =
    query.trim() === '' ? within : OperationSearch.of(caller.registry).find(query, new Set(within))
  const operations = found.slice(offset, offset + limit).map(({ id, section: { title }, spec }) => ({
    operationId: id,
    section: title,
    description: spec.description,
    readOnly: spec.readOnly,
    ...(listConsequences(spec).length > 0 ? { consequences: [...listConsequences(spec)] } : {}),
  }))
  if (found.length > 0) return result({ operations, total: found.length })
  const offered = caller.registry.sections.filter((each) => allowed.some(({ section }) => section === each))
  const summaries = offered.map(({ title, description }) => ({ section: title, description }))
  return result({ operations, total: 0, sections: summaries })
}

async function describe(caller: Caller, { operationId }: { operationId: string }): Promise<CallToolResult> {
  const allowed = await runnable(caller)
  const operation = requireOperation(caller, operationId)
  if (!allowed.includes(operation)) {
    const access = await caller.access()
    throw refuse(
      'forbidden',
      (access && checkAccess(operation, access, caller.now(), caller.registry.extensions.entitlement)) ??
        'This key may not run it',
    )
  }
  return result(describeOperation(operation))
}

async function read(caller: Caller, given: z.infer<typeof inputs.read_operation>): Promise<CallToolResult> {
  const operation = requireOperation(caller, given.operationId)
  if (!operation.spec.readOnly) {
    throw refuse('bad_request', `operationId: ${operation.id} writes: run it with call_operation`)
  }
  const answer = await caller.run(operation, toRequest(operation, given))
  if (answer.status >= 400) return toolError(answer.body)
  const limited = limitBody(answer.body)
  return result({ status: answer.status, ...limited }, listFiles(limited.body))
}

async function call(
  caller: Caller,
  given: z.infer<typeof inputs.call_operation>,
  client: ConfirmingClient,
): Promise<CallToolResult | InputRequiredResult> {
  const operation = requireOperation(caller, given.operationId)
  const request = toRequest(operation, given)
  const question = await askMerchant(caller, operation, request, client)
  if (question) return question
  const answer = await caller.run(operation, request)
  if (answer.status >= 400) return toolError(answer.body)
  const warnings = parseWarnings(answer.headers.warning)
  const follow = toFollow(caller.registry, operation, answer.headers.location)
  const limited = limitBody(answer.body)
  const value = {
    status: answer.status,
    ...limited,
    replayed: answer.headers['idempotency-replayed'] === 'true',
    ...(follow ? { follow } : {}),
    ...(warnings.length > 0 ? { warnings } : {}),
  }
  return result(value, listFiles(limited.body))
}

/** Builds the request of a tool call; refuses missing and unknown path parameters. */
function toRequest(
  operation: LoadedOperation,
  { path = {}, query = {}, body, idempotencyKey }: Partial<z.infer<typeof inputs.call_operation>>,
): OperationRequest {
  const params = Object.fromEntries(Object.entries(path).map(([name, value]) => [name, String(value)]))
  for (const name of operation.parameters) {
    if (!params[name]) throw refuse('bad_request', `path.${name}: is required`)
  }
  const unknown = Object.keys(params).find((name) => !operation.parameters.includes(name))
  if (unknown !== undefined) {
    const known = operation.parameters.length > 0 ? operation.parameters.join(', ') : 'no path parameters'
    throw refuse('bad_request', `path.${truncate(unknown, 80)}: is not a known field (it takes ${known})`)
  }
  return { path: params, query, body, idempotencyKey }
}

/** Public operations, such as the OpenAPI document, need no key and are of no use to a model. */
const isOffered = ({ spec }: LoadedOperation): boolean => !spec.public

function requireOperation({ registry }: Caller, operationId: string): LoadedOperation {
  const operation = registry.byId(operationId)
  if (operation && isOffered(operation)) return operation
  const near = findNearestIds(registry, operationId)
  throw refuse(
    'not_found',
    `operationId: ${truncate(operationId, 80)} is no operation: did you mean ${near.join(', ')}? list_operations finds them`,
  )
}
