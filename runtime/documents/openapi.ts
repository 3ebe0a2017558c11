/** Builds the OpenAPI 3.1 document of a registry. Its schemas are generated from those that validate requests. */

import { setImmediate as othersFirst } from 'node:timers/promises'
import { getIfMatchReaders } from '#runtime/gateway/if-match'
import { mayWarn } from '#runtime/gateway/warnings'
import type { Operation } from '#runtime/operation'
import type { LoadedOperation, Registry } from '#runtime/registry/loaded'
import { getSchemaName, type z } from '#runtime/schema'
import { addBodySchema, resolveReference } from './body-schemas.ts'
import { getDescriptor, listPathParameters } from './descriptors.ts'
import { buildExample, withExamples } from './example.ts'
import {
  buildHeaderComponents,
  buildHeaderReferences,
  buildInfo,
  buildRefusalReferences,
  buildRefusalResponses,
  commonHeaders,
  type HeaderName,
  type ParameterName,
  parameters,
  securitySchemes,
} from './openapi-parts.ts'
import { type JsonSchema, publish } from './publish.ts'
import { SharedComponents } from './shared-components.ts'

type Spec = Operation['spec']

/** Components that operations reference, collected while the document is built. */
interface Components {
  schemas: Map<string, JsonSchema>
  headers: Set<HeaderName>
  parameters: Set<ParameterName>
  /** Names of request schemas. */
  bodies: Set<string>
  shared: { parameters: SharedComponents; responses: SharedComponents }
}

/** Builds the whole document. Throws, naming the operation's file, if a schema cannot be published. */
export function buildOpenApi(registry: Registry): Record<string, unknown> {
  const steps = buildInSteps(registry)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Yields after each operation. */
function* buildInSteps(registry: Registry): Generator<void, Record<string, unknown>> {
  const components: Components = {
    schemas: new Map(),
    headers: new Set(),
    parameters: new Set(),
    bodies: new Set(),
    shared: { parameters: new SharedComponents(), responses: new SharedComponents() },
  }
  for (const name of [...commonHeaders, 'Retry-After'] as const) components.headers.add(name)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of registry.operations) {
    const path = operation.spec.path.replace(/:([A-Za-z]+)/g, '{$1}')
    paths[path] ??= {}
    try {
      paths[path][operation.spec.method.toLowerCase()] = buildOperation(operation, components, registry)
    } catch (error) {
      throw new Error(`${operation.file}: ${(error as Error).message}`, { cause: error })
    }
    yield
  }
  return {
    openapi: '3.1.0',
    info: buildInfo(registry.extensions.about),
    servers: [{ url: '/v1' }],
    tags: registry.sections.map(({ title, description }) => ({ name: title, description })),
    paths,
    components: {
      securitySchemes,
      parameters: {
        ...pick(parameters, components.parameters),
        ...components.shared.parameters.components('parameters'),
      },
      headers: buildHeaderComponents(components.headers),
      responses: { ...buildRefusalResponses(), ...components.shared.responses.components('responses') },
      schemas: buildSchemas(components),
    },
  }
}

/** The named schemas, sorted by name. Schemas that occur only in answers allow additional fields, and have examples. */
function buildSchemas({ schemas, bodies }: Components): Record<string, JsonSchema> {
  const sent = new Set<string>()
  for (const name of bodies) collectReachable(name, schemas, sent)
  const sorted = [...schemas].sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(
    sorted.map(([name, schema]) => [
      name,
      bodies.has(name) ? schema : withExamples(sent.has(name) ? schema : toAnswerSchema(schema)),
    ]),
  )
}

function collectReachable(
  name: string,
  schemas: ReadonlyMap<string, JsonSchema>,
  reached: Set<string>,
): void {
  if (reached.has(name)) return
  reached.add(name)
  for (const [, found] of JSON.stringify(schemas.get(name)).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    collectReachable(found!, schemas, reached)
  }
}

/**
 * Converts a schema to its form in answers. Additional fields are allowed, since answers may get more fields later.
 * Defaults are removed: a field with a default is always in an answer, but generators would make it optional.
 */
function toAnswerSchema(schema: JsonSchema): JsonSchema {
  const { default: _filledIn, ...made } = schema
  if (made.additionalProperties === false) delete made.additionalProperties
  for (const key of ['items', 'additionalProperties']) {
    if (typeof made[key] === 'object') made[key] = toAnswerSchema(made[key] as JsonSchema)
  }
  for (const key of ['anyOf', 'allOf', 'prefixItems']) {
    if (Array.isArray(made[key])) made[key] = made[key].map(toAnswerSchema)
  }
  if (typeof made.properties !== 'object') return made
  const fields = Object.entries(made.properties as Record<string, JsonSchema>)
  const always = (made.required as string[] | undefined) ?? []
  const required = fields.flatMap(([name, field]) =>
    always.includes(name) || 'default' in field ? [name] : [],
  )
  made.properties = Object.fromEntries(fields.map(([name, field]) => [name, toAnswerSchema(field)]))
  return required.length > 0 ? { ...made, required } : made
}

/** Cached documents by the registry's operations: other parts of a registry do not affect the document. */
const texts = new WeakMap<Registry['operations'], string>()

/** The document as JSON text, built once for each registry. */
export function getOpenApiText(registry: Registry): string {
  const known = texts.get(registry.operations)
  if (known !== undefined) return known
  const text = JSON.stringify(buildOpenApi(registry))
  texts.set(registry.operations, text)
  return text
}

/**
 * Builds the document in advance, an operation at a time: neither the start of the server nor a request waits for it.
 */
export async function prepareOpenApi(registry: Registry): Promise<void> {
  const steps = buildInSteps(registry)
  for (let step = steps.next(); !texts.has(registry.operations); step = steps.next()) {
    if (step.done) texts.set(registry.operations, JSON.stringify(step.value))
    else await othersFirst()
  }
}

const pick = <T extends object>(all: T, names: ReadonlySet<keyof T>): Partial<T> =>
  Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name as keyof T))) as Partial<T>

function buildOperation(
  operation: LoadedOperation,
  components: Components,
  { operations }: Registry,
): JsonSchema {
  const { id, section, spec, minimumRole } = operation
  const given = buildParameters(operation, components, getIfMatchReaders(operations, operation).length > 0)
  return {
    tags: [section.title],
    operationId: id,
    summary: toSummary(spec.description),
    description: [spec.description, spec.details, describeDeprecation(spec), describeNeeds(operation)]
      .filter(Boolean)
      .join('\n\n'),
    ...(spec.deprecated ? { deprecated: true } : {}),
    security: spec.public ? [{ apiKey: [] }, {}] : [{ apiKey: [...spec.scopes] }],
    ...(given.length > 0 ? { parameters: given } : {}),
    ...(spec.input?.body ? { requestBody: buildRequestBody(operation, spec.input.body, components) } : {}),
    responses: buildResponses(spec, components),
    'x-scopes': [...spec.scopes],
    'x-read-only': spec.readOnly,
    'x-feature': spec.feature ?? null,
    'x-minimum-role': minimumRole,
    ...(spec.public ? { 'x-public-reason': spec.public } : {}),
  }
}

/** Describes the needed scopes, role and feature in words, since reference pages do not show `x-` fields. */
function describeNeeds({ spec, minimumRole }: LoadedOperation): string {
  if (spec.public) return `**Needs** no key: ${spec.public}`
  const scopes = spec.scopes.map((scope) => `\`${scope}\``).join(', ')
  return [`**Needs** ${scopes}`, `role ${minimumRole}`, spec.feature && `feature \`${spec.feature}\``]
    .filter(Boolean)
    .join(' · ')
}

function describeDeprecation({ deprecated }: Spec): string | null {
  if (!deprecated) return null
  const { since, sunset, link } = deprecated
  const end = sunset ? `, may be gone from ${sunset}` : ''
  return `**Deprecated** since ${since}${end}${link ? `: [what replaces it](${link})` : ''}`
}

const summaryAtMost = 80

/** Shortens a description to its first sentence or clause, and to 80 characters. */
function toSummary(description: string): string {
  const sentence = description.replace(/\.(?:\s[\s\S]*)?$/, '').replace(/[:;]\s[\s\S]*$/, '')
  if (sentence.length <= summaryAtMost) return sentence
  return `${sentence.slice(0, summaryAtMost - 1).replace(/[\s,]+\S*$/, '')}…`
}

function buildParameters(
  operation: LoadedOperation,
  components: Components,
  takesIfMatch: boolean,
): JsonSchema[] {
  const { spec } = operation
  const found: JsonSchema[] = listPathParameters(operation).map((parameter) => ({
    ...parameter,
    in: 'path',
    ...pickExample(spec.example?.params, parameter.name),
  }))
  for (const at of found.keys())
    components.shared.parameters.add(
      toParameterName(spec.path, found[at]!.name as string),
      found as never,
      at,
    )
  const query = getDescriptor(operation).input?.query
  for (const [name, schema] of Object.entries(query?.properties ?? {})) {
    const { description, ...rest } = schema
    found.push({
      name,
      in: 'query',
      ...(query?.required.includes(name) ? { required: true } : {}),
      ...(description === undefined ? {} : { description }),
      schema: rest,
      ...(rest.type === 'array' ? { style: 'form', explode: false } : {}),
      ...pickExample(spec.example?.query, name),
    })
    components.shared.parameters.add(name, found as never, found.length - 1)
  }
  const shared: [boolean, ParameterName][] = [
    [!spec.readOnly, 'IdempotencyKey'],
    [takesIfMatch, 'IfMatch'],
    [isCacheable(spec), 'IfNoneMatch'],
  ]
  for (const [applies, name] of shared) {
    if (!applies) continue
    components.parameters.add(name)
    found.push({ $ref: `#/components/parameters/${name}` })
  }
  return found
}

/** `/things/:id/send` → `things.id`. */
function toParameterName(path: string, name: string): string {
  const before = path
    .slice(0, path.indexOf(`/:${name}`))
    .split('/')
    .at(-1)!
  return before.startsWith(':') ? name : `${before}.${name}`
}

const pickExample = (examples: Record<string, unknown> | undefined, name: string): { example?: unknown } =>
  examples && name in examples ? { example: examples[name] } : {}

function buildRequestBody(
  operation: LoadedOperation,
  body: z.ZodTypeAny,
  { schemas, bodies }: Components,
): JsonSchema {
  const { spec } = operation
  const schema = publish(body, schemas)
  const answer = spec.answer.body && publish(spec.answer.body, schemas)
  const example = spec.example?.body ?? buildExample(schema, schemas)
  const named = addBodySchema(operation, schema, answer, schemas)
  bodies.add((named.$ref as string).split('/').at(-1)!)
  return {
    required: !body.safeParse({}).success,
    content: {
      'application/json': {
        schema: named,
        example,
      },
    },
  }
}

function buildResponses(spec: Spec, components: Components): Record<string, JsonSchema> {
  const { status, body } = spec.answer
  const found: Record<string, JsonSchema> = {
    [status]: buildSuccess(spec, components),
    ...(isCacheable(spec) ? { 304: buildNotModified(spec, components) } : {}),
    ...buildRefusalReferences(spec),
  }
  const resource = body ? getSchemaName(body) : 'Nothing'
  const { responses } = components.shared
  responses.add(resource ? `${resource}${responseNames[status](spec)}` : null, found, status)
  if (found[304]) responses.add(spec.etag ? 'NotModified' : 'NotModifiedWithoutETag', found, 304)
  return found
}

/** The suffix of a shared response's name, by the answer's status. */
const responseNames: Record<Spec['answer']['status'], (spec: Spec) => string> = {
  200: ({ readOnly }) => (readOnly ? '' : 'Changed'),
  201: () => 'Created',
  202: () => '',
  204: () => '',
}

function buildSuccess(spec: Spec, components: Components): JsonSchema {
  const { status, body, description = successes[status] } = spec.answer
  if (!body) return { description, headers: buildHeaders(listOwnHeaders(spec), components) }
  const schema = publish(body, components.schemas)
  const names = listOwnHeaders(spec)
  const example = spec.example && 'answer' in spec.example ? { example: spec.example.answer } : {}
  if (isPage(schema, components.schemas)) names.push('X-Total-Capped')
  return {
    description,
    headers: buildHeaders(names, components),
    content: { 'application/json': { schema: withExamples(toAnswerSchema(schema)), ...example } },
  }
}

const successes: Record<Spec['answer']['status'], string> = {
  200: 'Success.',
  201: 'It was made; the answer is the new resource.',
  202: 'It is queued: the work goes on in the background.',
  204: 'Success, without a body.',
}

/** Whether a reader can use `If-None-Match`. */
const isCacheable = (spec: Spec): boolean => spec.readOnly && (spec.etag === true || spec.cache !== undefined)

function buildNotModified(spec: Spec, components: Components): JsonSchema {
  return {
    description: 'What `If-None-Match` names still holds; there is no body.',
    headers: buildHeaders(
      [...(spec.etag ? (['ETag'] as const) : []), ...listDeprecationHeaders(spec)],
      components,
    ),
  }
}

const listOwnHeaders = (spec: Spec): HeaderName[] => [
  ...(spec.etag ? (['ETag'] as const) : []),
  ...(spec.monitor ? (['Location'] as const) : []),
  ...(spec.readOnly ? [] : (['Idempotency-Replayed'] as const)),
  ...(!spec.readOnly && spec.answer.body && mayWarn(spec.answer.body) ? (['Warning'] as const) : []),
  ...listDeprecationHeaders(spec),
]

const listDeprecationHeaders = ({ deprecated }: Spec): HeaderName[] => [
  ...(deprecated ? (['Deprecation'] as const) : []),
  ...(deprecated?.sunset ? (['Sunset'] as const) : []),
  ...(deprecated?.link ? (['Link'] as const) : []),
]

function buildHeaders(own: readonly HeaderName[], components: Components): Record<string, JsonSchema> {
  for (const name of own) components.headers.add(name)
  return buildHeaderReferences([...commonHeaders, ...own])
}

function isPage(schema: JsonSchema, schemas: ReadonlyMap<string, JsonSchema>): boolean {
  const properties = resolveReference(schema, schemas)?.properties as Record<string, unknown> | undefined
  return properties !== undefined && ['data', 'page', 'limit', 'total'].every((name) => name in properties)
}
