/** Operations as `GET /operations` and the assistants describe them: what to send, and what a key needs for it. */
import type { Access } from '#db/access'
import { checkAccess } from '#runtime/gateway/access'
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
  /** Absent if the operation takes neither. */
  input?: { query?: InputSchema; body?: InputSchema }
}

const descriptors = new WeakMap<LoadedOperation, { descriptor: Descriptor; text: string }>()

/** The descriptor, built once for each operation. */
export const getDescriptor = (operation: LoadedOperation): Descriptor => describe(operation).descriptor
/** The descriptor as JSON text. */
export const getDescriptorText = (operation: LoadedOperation): string => describe(operation).text

function describe(operation: LoadedOperation): { descriptor: Descriptor; text: string } {
  const known = descriptors.get(operation)
  if (known) return known
  const { id, spec } = operation
  const { query, body } = spec.input ?? {}
  const input = {
    ...(query ? { query: toInputSchema(query) } : {}),
    ...(body ? { body: toInputSchema(body) } : {}),
  }
  const descriptor: Descriptor = {
    id,
    method: spec.method,
    path: spec.path,
    description: spec.description,
    scopes: spec.scopes,
    readOnly: spec.readOnly,
    pathParameters: listPathParameters(operation),
    ...(query || body ? { input } : {}),
  }
  const entry = { descriptor, text: JSON.stringify(descriptor) }
  descriptors.set(operation, entry)
  return entry
}

/** A choice between several objects has its fields in `anyOf`; the four keywords are set nevertheless. */
function toInputSchema(schema: z.ZodTypeAny): InputSchema {
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
export function listPathParameters({ spec, parameters }: LoadedOperation): PathParameter[] {
  return parameters.map((name) => ({
    name,
    description: spec.input?.params?.[name] ?? describeParameter(spec.path, name),
    required: true,
    schema: { type: 'string' },
  }))
}

/** `/things/:id/send` → `Id of one of the things`. */
function describeParameter(path: string, name: string): string {
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

/** The operations that the key's holder may run at `now` (milliseconds), in the order of the documents. */
export const listRunnable = (registry: Registry, access: Access, now: number): LoadedOperation[] =>
  registry.operations.filter(
    (operation) => checkAccess(operation, access, now, registry.extensions.entitlement) === null,
  )
