/** The OpenAPI 3.1 document of a registry. Its schemas are those that validate. */

import { setImmediate as othersFirst } from 'node:timers/promises'
import { readersOf } from '#runtime/gateway/if-match'
import { mayWarn } from '#runtime/gateway/warnings'
import type { Operation } from '#runtime/operation'
import type { LoadedOperation, Registry } from '#runtime/registry/loaded'
import { nameOf, type z } from '#runtime/schema'
import { namedBody, referred } from './body-names.ts'
import { descriptorOf, pathParametersOf } from './descriptors.ts'
import { exampleOf, withExamples } from './example.ts'
import {
  type HeaderName,
  headerComponents,
  headerReferences,
  headersOfAll,
  infoOf,
  type ParameterName,
  parameters,
  refusalReferences,
  refusalResponses,
  securitySchemes,
} from './openapi-parts.ts'
import { type JsonSchema, publish } from './publish.ts'
import { Shared } from './shared.ts'

type Spec = Operation['spec']

/** What operations refer to, collected while they are written. */
interface Components {
  schemas: Map<string, JsonSchema>
  headers: Set<HeaderName>
  parameters: Set<ParameterName>
  /** Names of schemas that are sent. */
  bodies: Set<string>
  shared: { parameters: Shared; responses: Shared }
}

/** The whole document. Throws, naming the operation's file, where a schema cannot be published. */
export function openApiDocument(registry: Registry): Record<string, unknown> {
  const steps = documentInSteps(registry)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Yields after each operation. */
function* documentInSteps(registry: Registry): Generator<void, Record<string, unknown>> {
  const components: Components = {
    schemas: new Map(),
    headers: new Set(),
    parameters: new Set(),
    bodies: new Set(),
    shared: { parameters: new Shared(), responses: new Shared() },
  }
  for (const name of [...headersOfAll, 'Retry-After'] as const) components.headers.add(name)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of registry.operations) {
    const path = operation.spec.path.replace(/:([A-Za-z]+)/g, '{$1}')
    paths[path] ??= {}
    try {
      paths[path][operation.spec.method.toLowerCase()] = operationObject(operation, components, registry)
    } catch (error) {
      throw new Error(`${operation.file}: ${(error as Error).message}`, { cause: error })
    }
    yield
  }
  return {
    openapi: '3.1.0',
    info: infoOf(registry.wired.about),
    servers: [{ url: '/v1' }],
    tags: registry.sections.map(({ title, description }) => ({ name: title, description })),
    paths,
    components: {
      securitySchemes,
      parameters: {
        ...pick(parameters, components.parameters),
        ...components.shared.parameters.components('parameters'),
      },
      headers: headerComponents(components.headers),
      responses: { ...refusalResponses(), ...components.shared.responses.components('responses') },
      schemas: schemasOf(components),
    },
  }
}

/** In the order of their names. What is only answered is left open, and has its examples. */
function schemasOf({ schemas, bodies }: Components): Record<string, JsonSchema> {
  const sent = new Set<string>()
  for (const name of bodies) addReached(name, schemas, sent)
  const sorted = [...schemas].sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(
    sorted.map(([name, schema]) => [
      name,
      bodies.has(name) ? schema : withExamples(sent.has(name) ? schema : answered(schema)),
    ]),
  )
}

function addReached(name: string, schemas: ReadonlyMap<string, JsonSchema>, reached: Set<string>): void {
  if (reached.has(name)) return
  reached.add(name)
  for (const [, found] of JSON.stringify(schemas.get(name)).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    addReached(found!, schemas, reached)
  }
}

/**
 * As it is answered. It may have more fields one day: readers are not told that there are none. What a default fills
 * in as it is saved is always there: said as a default, generators make code of it that fits no answer.
 */
function answered(schema: JsonSchema): JsonSchema {
  const { default: _filledIn, ...made } = schema
  if (made.additionalProperties === false) delete made.additionalProperties
  for (const key of ['items', 'additionalProperties']) {
    if (typeof made[key] === 'object') made[key] = answered(made[key] as JsonSchema)
  }
  for (const key of ['anyOf', 'allOf', 'prefixItems']) {
    if (Array.isArray(made[key])) made[key] = made[key].map(answered)
  }
  if (typeof made.properties !== 'object') return made
  const fields = Object.entries(made.properties as Record<string, JsonSchema>)
  const always = (made.required as string[] | undefined) ?? []
  const required = fields.flatMap(([name, field]) =>
    always.includes(name) || 'default' in field ? [name] : [],
  )
  made.properties = Object.fromEntries(fields.map(([name, field]) => [name, answered(field)]))
  return required.length > 0 ? { ...made, required } : made
}

/** By the operations: what else differs between registries, as their wirings, is not in it. */
const texts = new WeakMap<Registry['operations'], string>()

/** The document as JSON text, written once for each registry. */
export function openApiText(registry: Registry): string {
  const known = texts.get(registry.operations)
  if (known !== undefined) return known
  const text = JSON.stringify(openApiDocument(registry))
  texts.set(registry.operations, text)
  return text
}

/**
 * Makes the document before somebody asks for it, an operation at a time: a server that starts does not wait for it,
 * nor does a request that comes meanwhile.
 */
export async function prepareOpenApi(registry: Registry): Promise<void> {
  const steps = documentInSteps(registry)
  for (let step = steps.next(); !texts.has(registry.operations); step = steps.next()) {
    if (step.done) texts.set(registry.operations, JSON.stringify(step.value))
    else await othersFirst()
  }
}

const pick = <T extends object>(all: T, names: ReadonlySet<keyof T>): Partial<T> =>
  Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name as keyof T))) as Partial<T>

function operationObject(
  operation: LoadedOperation,
  components: Components,
  { operations }: Registry,
): JsonSchema {
  const { id, section, spec, minimumRole } = operation
  const given = parametersOf(operation, components, readersOf(operations, operation).length > 0)
  return {
    tags: [section.title],
    operationId: id,
    summary: summaryOf(spec.description),
    description: [spec.description, spec.details, needsOf(operation)].filter(Boolean).join('\n\n'),
    security: spec.public ? [{ apiKey: [] }, {}] : [{ apiKey: [...spec.scopes] }],
    ...(given.length > 0 ? { parameters: given } : {}),
    ...(spec.input?.body ? { requestBody: requestBody(operation, spec.input.body, components) } : {}),
    responses: responsesOf(spec, components),
    'x-scopes': [...spec.scopes],
    'x-read-only': spec.readOnly,
    'x-feature': spec.feature ?? null,
    'x-minimum-role': minimumRole,
    ...(spec.public ? { 'x-public-reason': spec.public } : {}),
  }
}

/** What a key, its creator and the plan must have: references show no extensions. */
function needsOf({ spec, minimumRole }: LoadedOperation): string {
  if (spec.public) return `**Needs** no key: ${spec.public}`
  const scopes = spec.scopes.map((scope) => `\`${scope}\``).join(', ')
  return [`**Needs** ${scopes}`, `role ${minimumRole}`, spec.feature && `feature \`${spec.feature}\``]
    .filter(Boolean)
    .join(' · ')
}

const summaryAtMost = 80

/** The description up to where it can be cut. */
function summaryOf(description: string): string {
  const sentence = description.replace(/\.(?:\s[\s\S]*)?$/, '').replace(/[:;]\s[\s\S]*$/, '')
  if (sentence.length <= summaryAtMost) return sentence
  return `${sentence.slice(0, summaryAtMost - 1).replace(/[\s,]+\S*$/, '')}…`
}

function parametersOf(
  operation: LoadedOperation,
  components: Components,
  takesIfMatch: boolean,
): JsonSchema[] {
  const { spec } = operation
  const found: JsonSchema[] = pathParametersOf(operation).map((parameter) => ({
    ...parameter,
    in: 'path',
    ...exampleFor(spec.example?.params, parameter.name),
  }))
  for (const at of found.keys())
    components.shared.parameters.note(
      nameOfPathParameter(spec.path, found[at]!.name as string),
      found as never,
      at,
    )
  const query = descriptorOf(operation).input?.query
  for (const [name, schema] of Object.entries(query?.properties ?? {})) {
    const { description, ...rest } = schema
    found.push({
      name,
      in: 'query',
      ...(query?.required.includes(name) ? { required: true } : {}),
      ...(description === undefined ? {} : { description }),
      schema: rest,
      ...(rest.type === 'array' ? { style: 'form', explode: false } : {}),
      ...exampleFor(spec.example?.query, name),
    })
    components.shared.parameters.note(name, found as never, found.length - 1)
  }
  const shared: [boolean, ParameterName][] = [
    [!spec.readOnly, 'IdempotencyKey'],
    [takesIfMatch, 'IfMatch'],
    [isKeptByReaders(spec), 'IfNoneMatch'],
  ]
  for (const [applies, name] of shared) {
    if (!applies) continue
    components.parameters.add(name)
    found.push({ $ref: `#/components/parameters/${name}` })
  }
  return found
}

/** `/things/:id/send` → `things.id`. */
function nameOfPathParameter(path: string, name: string): string {
  const before = path
    .slice(0, path.indexOf(`/:${name}`))
    .split('/')
    .at(-1)!
  return before.startsWith(':') ? name : `${before}.${name}`
}

const exampleFor = (examples: Record<string, unknown> | undefined, name: string): { example?: unknown } =>
  examples && name in examples ? { example: examples[name] } : {}

function requestBody(
  operation: LoadedOperation,
  body: z.ZodTypeAny,
  { schemas, bodies }: Components,
): JsonSchema {
  const { spec } = operation
  const schema = publish(body, schemas)
  const answer = spec.answer.body && publish(spec.answer.body, schemas)
  const example = spec.example?.body ?? exampleOf(schema, schemas)
  const named = namedBody(operation, schema, answer, schemas)
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

function responsesOf(spec: Spec, components: Components): Record<string, JsonSchema> {
  const { status, body } = spec.answer
  const found: Record<string, JsonSchema> = {
    [status]: successResponse(spec, components),
    ...(isKeptByReaders(spec) ? { 304: notModified(spec, components) } : {}),
    ...refusalReferences(spec),
  }
  const resource = body ? nameOf(body) : 'Nothing'
  const { responses } = components.shared
  responses.note(resource ? `${resource}${endings[status](spec)}` : null, found, status)
  if (found[304]) responses.note(spec.etag ? 'NotModified' : 'NotModifiedWithoutETag', found, 304)
  return found
}

/** What is answered, as the name of its response tells it. */
const endings: Record<Spec['answer']['status'], (spec: Spec) => string> = {
  200: ({ readOnly }) => (readOnly ? '' : 'Changed'),
  201: () => 'Created',
  202: () => '',
  204: () => '',
}

function successResponse(spec: Spec, components: Components): JsonSchema {
  const { status, body, description = successes[status] } = spec.answer
  if (!body) return { description, headers: headersFor(ownHeaders(spec), components) }
  const schema = publish(body, components.schemas)
  const names = ownHeaders(spec)
  const example = spec.example && 'answer' in spec.example ? { example: spec.example.answer } : {}
  if (isPage(schema, components.schemas)) names.push('X-Total-Capped')
  return {
    description,
    headers: headersFor(names, components),
    content: { 'application/json': { schema: withExamples(answered(schema)), ...example } },
  }
}

const successes: Record<Spec['answer']['status'], string> = {
  200: 'It went well.',
  201: 'It was made; the answer is the new resource.',
  202: 'It is queued: the work goes on in the background.',
  204: 'It went well; there is no body.',
}

/** Whether a reader who names the ETag of its answer is spared the same again. */
const isKeptByReaders = (spec: Spec): boolean =>
  spec.readOnly && (spec.etag === true || spec.cache !== undefined)

function notModified(spec: Spec, components: Components): JsonSchema {
  return {
    description: 'What `If-None-Match` names still holds; there is no body.',
    headers: headersFor(spec.etag ? ['ETag'] : [], components),
  }
}

const ownHeaders = (spec: Spec): HeaderName[] => [
  ...(spec.etag ? (['ETag'] as const) : []),
  ...(spec.readOnly ? [] : (['Idempotency-Replayed'] as const)),
  ...(!spec.readOnly && spec.answer.body && mayWarn(spec.answer.body) ? (['Warning'] as const) : []),
]

function headersFor(own: readonly HeaderName[], components: Components): Record<string, JsonSchema> {
  for (const name of own) components.headers.add(name)
  return headerReferences([...headersOfAll, ...own])
}

function isPage(schema: JsonSchema, schemas: ReadonlyMap<string, JsonSchema>): boolean {
  const properties = referred(schema, schemas)?.properties as Record<string, unknown> | undefined
  return properties !== undefined && ['data', 'page', 'limit', 'total'].every((name) => name in properties)
}
