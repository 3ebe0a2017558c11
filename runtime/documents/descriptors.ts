/** Operations as `GET /operations` and the assistants describe them: what to send, and what a key needs for it. */
import type { Access } from '#db/access'
import { refusalOf } from '#runtime/gateway/access'
import type { LoadedOperation, Registry } from '#runtime/registry/loaded'
import type { Method, Scope } from '#runtime/roles'
import type { z } from '#runtime/schema'
import { asWords } from './example.ts'
import { type JsonSchema, publish } from './publish.ts'

export interface PathParameter {
  name: string
  description: string
  required: true
  schema: { type: 'string' }
}

/** A JSON Schema 2020-12 object without references. */
interface InputSchema extends JsonSchema {
  type: 'object'
  properties: Record<string, JsonSchema>
  required: string[]
  additionalProperties: boolean | JsonSchema
}

export interface Descriptor {
  id: string
  method: Method
  /** Without `/v1`, parameters as `:name`. */
  path: string
  description: string
  scopes: readonly Scope[]
  readOnly: boolean
  pathParameters: PathParameter[]
  /** Left out when the operation takes neither. */
  input?: { query?: InputSchema; body?: InputSchema }
}

const made = new WeakMap<LoadedOperation, { descriptor: Descriptor; text: string }>()

/** The descriptor, made once for each operation. */
export const descriptorOf = (operation: LoadedOperation): Descriptor => describe(operation).descriptor
/** The same as JSON text. */
export const descriptorText = (operation: LoadedOperation): string => describe(operation).text

function describe(operation: LoadedOperation): { descriptor: Descriptor; text: string } {
  const known = made.get(operation)
  if (known) return known
  const { id, spec } = operation
  const { query, body } = spec.input ?? {}
  const input = {
    ...(query ? { query: inputSchema(query) } : {}),
    ...(body ? { body: inputSchema(body) } : {}),
  }
  const descriptor: Descriptor = {
    id,
    method: spec.method,
    path: spec.path,
    description: spec.description,
    scopes: spec.scopes,
    readOnly: spec.readOnly,
    pathParameters: pathParametersOf(operation),
    ...(query || body ? { input } : {}),
  }
  const entry = { descriptor, text: JSON.stringify(descriptor) }
  made.set(operation, entry)
  return entry
}

/** A choice between several objects has its fields in `anyOf`: the four keywords are there all the same. */
function inputSchema(schema: z.ZodTypeAny): InputSchema {
  const published = publish(schema)
  return {
    ...published,
    type: 'object',
    properties: (published.properties ?? {}) as InputSchema['properties'],
    required: (published.required ?? []) as string[],
    additionalProperties: (published.additionalProperties ?? true) as InputSchema['additionalProperties'],
  }
}

/** The parameters of the path, in its order. */
export function pathParametersOf({ spec, parameters }: LoadedOperation): PathParameter[] {
  return parameters.map((name) => ({
    name,
    description: spec.input?.params?.[name] ?? parameterSentence(spec.path, name),
    required: true,
    schema: { type: 'string' },
  }))
}

/** `/things/:id/send` → `Id of one of the things`. */
function parameterSentence(path: string, name: string): string {
  const words = asWords(name)
  const before =
    path
      .slice(0, path.indexOf(`/:${name}`))
      .split('/')
      .at(-1) ?? ''
  if (!before.endsWith('s') || before.startsWith(':'))
    return `${words}, as reads of the same resource answer it`
  return `${words} of one of the ${before.replaceAll('-', ' ')}`
}

/** What the holder of a key may run at `now` (milliseconds), in the order of the documents. */
export const runnableBy = (registry: Registry, access: Access, now: number): LoadedOperation[] =>
  registry.operations.filter(
    (operation) => refusalOf(operation, access, now, registry.wired.entitlement) === null,
  )
