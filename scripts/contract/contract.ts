/**
 * What callers rely on in an OpenAPI document of ours: no words and no examples, so that it says nothing when those
 * change. That of the last release lies beside this file, compressed.
 */
import { defaultSaid } from '#runtime/documents/body-names'
import type { JsonSchema } from '#runtime/documents/publish'
import type { Role } from '#runtime/roles'

interface Parameter {
  required?: true
  schema: JsonSchema
}
export interface Call {
  id: string
  /** Absent of one that needs no key. */
  access?: { scopes: string[]; role: Role; feature?: string }
  /** `query page`, `header If-Match`. */
  parameters: Record<string, Parameter>
  body?: Parameter
  answer: { status: string; headers: string[]; schema?: JsonSchema }
}
export interface Contract {
  /** `POST /campaigns/{id}/send`. */
  calls: Record<string, Call>
  schemas: Record<string, JsonSchema>
}

interface Referable {
  $ref?: string
}
interface Media {
  'application/json': { schema: JsonSchema }
}
interface Answer extends Referable {
  headers: Record<string, unknown>
  content?: Media
}
interface Given extends Referable {
  name: string
  in: string
  required?: boolean
  schema: JsonSchema
}
interface Operation {
  operationId: string
  security: Record<string, unknown>[]
  parameters?: Given[]
  requestBody?: { required: boolean; content: Media }
  responses: Record<string, Answer>
  'x-scopes': string[]
  'x-minimum-role': Role
  'x-feature': string | null
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, unknown>> & { schemas: Record<string, JsonSchema> }
}

/** Of the document as it is published. */
export function contractOf(document: Record<string, unknown>): Contract {
  const { paths, components } = document as unknown as Document
  const resolved = <T extends Referable>(value: T): T => {
    const [, , kind, name] = (value.$ref ?? '').split('/')
    return kind ? (components[kind]![name!] as T) : value
  }
  const calls: Contract['calls'] = {}
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      calls[`${method.toUpperCase()} ${path}`] = callOf(operation, resolved)
    }
  }
  return { calls, schemas: byName(components.schemas) }
}

function callOf(operation: Operation, resolved: <T extends Referable>(value: T) => T): Call {
  const [status, answer] = Object.entries(operation.responses).find(([code]) => code.startsWith('2'))!
  const { content, headers } = resolved(answer)
  const { requestBody } = operation
  const isPublic = operation.security.some((each) => Object.keys(each).length === 0)
  return {
    id: operation.operationId,
    ...(isPublic ? {} : { access: accessOf(operation) }),
    parameters: Object.fromEntries(
      (operation.parameters ?? [])
        .map((each) => resolved(each))
        .map((each) => [
          `${each.in} ${each.name}`,
          { ...(each.required ? { required: true as const } : {}), schema: bare(each.schema) },
        ]),
    ),
    ...(requestBody
      ? {
          body: {
            ...(requestBody.required ? { required: true as const } : {}),
            schema: bare(requestBody.content['application/json'].schema),
          },
        }
      : {}),
    answer: {
      status,
      headers: Object.keys(headers).filter((name) => !/^(RateLimit-|X-Request-Id)/.test(name)),
      ...(content ? { schema: bare(content['application/json'].schema) } : {}),
    },
  }
}

const accessOf = (operation: Operation): Call['access'] => ({
  scopes: operation['x-scopes'],
  role: operation['x-minimum-role'],
  ...(operation['x-feature'] ? { feature: operation['x-feature'] } : {}),
})

/** A schema without what it only tells readers. A field may be called so: those are kept. */
function bare(schema: JsonSchema): JsonSchema {
  const { description, examples: _, discriminator: __, ...rest } = schema
  return Object.fromEntries(
    Object.entries({ ...defaultSaid(description), ...rest }).map(([key, value]) => {
      if (key === 'properties') return [key, byName(value as Record<string, JsonSchema>)]
      if (['anyOf', 'allOf', 'prefixItems'].includes(key)) return [key, (value as JsonSchema[]).map(bare)]
      const holdsSchema = ['items', 'additionalProperties', 'propertyNames'].includes(key)
      return [key, holdsSchema && typeof value === 'object' ? bare(value as JsonSchema) : value]
    }),
  )
}

const byName = (schemas: Record<string, JsonSchema>): Record<string, JsonSchema> =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, bare(schema)]))
