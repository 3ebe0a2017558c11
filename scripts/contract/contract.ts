/**
 * The part of the OpenAPI document that callers rely on: without descriptions and examples, which may change freely.
 */
import { parseDescribedDefault } from '#runtime/documents/body-schemas'
import type { JsonSchema } from '#runtime/documents/publish'
import type { Role } from '#runtime/roles'

export interface Access {
  scopes: string[]
  role: Role
  feature?: string | null
}
export interface Call {
  id: string
  /** The permissions that a key needs for the call; absent if the call needs no key. */
  access?: Access | undefined
  status: string
  /** The request's parameters and body as the fields of one object: `query page`, `header If-Match`, `body`. */
  sent: JsonSchema
  /** The answer's headers and body as the fields of one object: `answer's header ETag`, `answer`. */
  answered: JsonSchema
}
export interface Contract {
  /** Calls by method and path, such as `POST /campaigns/{id}/send`. */
  calls: Record<string, Call>
  schemas: Record<string, JsonSchema>
}

interface Part {
  required?: boolean
  schema: JsonSchema
}
interface Operation {
  operationId: string
  security: object[]
  parameters?: (Part & { name: string; in: string })[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, { headers: object; content?: Content }>
  'x-scopes': string[]
  'x-minimum-role': Role
  'x-feature': string | null
}
type Content = Record<'application/json', { schema: JsonSchema }>

/** Builds the contract from the published document. */
export function toContract(document: Record<string, unknown>): Contract {
  const { paths, components } = JSON.parse(JSON.stringify(document, dropDescriptions))
  const resolve = <T extends object>(value: T): T => {
    const [, , kind, name] = '$ref' in value ? String(value.$ref).split('/') : []
    return kind ? components[kind][name!] : value
  }
  const calls = Object.entries<Record<string, Operation>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Call] => [
      `${method.toUpperCase()} ${path}`,
      toCall(operation, resolve),
    ]),
  )
  return { calls: Object.fromEntries(calls), schemas: components.schemas }
}

function toCall(operation: Operation, resolve: <T extends object>(value: T) => T): Call {
  const { operationId: id, requestBody, security, parameters = [], responses } = operation
  const { 'x-scopes': scopes, 'x-minimum-role': role, 'x-feature': feature } = operation
  const [status, response] = Object.entries(responses).find(([code]) => code.startsWith('2'))!
  const { content, headers } = resolve(response)
  const isPublic = security.some((each) => Object.keys(each).length === 0)
  const sent = parameters
    .map((each) => resolve(each))
    .map((each): [string, Part] => [`${each.in} ${each.name}`, each])
  if (requestBody) sent.push(['body', { ...requestBody, ...requestBody.content['application/json'] }])
  const answered = Object.keys(headers)
    .filter((name) => !/^(RateLimit|X-Request-Id|Deprecation|Sunset|Link)/.test(name))
    .map((name) => [`answer's header ${name}`, {}] as const)
  const answer = content?.['application/json'].schema
  return {
    id,
    access: isPublic ? undefined : { scopes, role, feature },
    status,
    sent: {
      type: 'object',
      properties: Object.fromEntries(sent.map(([name, { schema }]) => [name, schema])),
      required: sent.filter(([, { required }]) => required).map(([name]) => name),
    },
    answered: {
      type: 'object',
      properties: { ...Object.fromEntries(answered), ...(answer ? { answer } : {}) },
    },
  }
}

/**
 * Drops keywords that are only for readers. A field that is named like such a keyword has an object as value and stays.
 */
function dropDescriptions(key: string, value: unknown): unknown {
  if (key === 'description' && typeof value === 'string') return undefined
  if (key === 'examples' && Array.isArray(value)) return undefined
  if (key === 'discriminator' && Object.hasOwn(value as object, 'propertyName')) return undefined
  const { description } = (value ?? {}) as { description?: unknown }
  return typeof description === 'string'
    ? { ...parseDescribedDefault(description), ...(value as object) }
    : value
}
