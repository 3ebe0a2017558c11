/** Describes operations for `GET /operations` and the assistants: what to send, and what a key needs to run them. */
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
  /** The path without `/v1`; parameters are written as `:name`. */
  path: string
  description: string
  scopes: readonly Scope[]
  readOnly: boolean
  pathParameters: PathParameter[]
  deprecated: { since: string; sunset: string | null; link: string | null } | null
  /** The schemas of query and body; absent if the operation takes neither. */
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
    deprecated: spec.deprecated ? { sunset: null, link: null, ...spec.deprecated } : null,
    ...(query || body ? { input } : {}),
  }
  const entry = { descriptor, text: JSON.stringify(descriptor) }
  descriptors.set(operation, entry)
  return entry
}

/**
 * Publishes a schema with the four keywords that every descriptor has. A choice between several objects also has
 * `anyOf`, which contains its fields.
 */
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

/** Lists the parameters of an operation's path, in the order of the path. */
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
