/** Faults of declarations: found at start and by `npm run check`, all at once, each with its remedy. */

import { basename } from 'node:path/posix'
import { childrenOf, type JsonSchema, publish } from '#runtime/documents/publish'
import type { Job } from '#runtime/job'
import { fanOutName } from '#runtime/jobs/fan-out'
import { allScopes, roles } from '#runtime/roles'
import { z } from '#runtime/schema'
import type { LoadedOperation } from './loaded.ts'

export interface Fault {
  file: string
  wrong: string
  remedy: string
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const extraScopes = ['messages:send', 'billing:write', 'team:write', 'integrations:write']

/** The faults of operations and jobs, each alone and among each other. */
export function faultsOf(
  operations: readonly LoadedOperation[],
  jobs: readonly { file: string; job: Job }[],
): Fault[] {
  const faults = operations.flatMap(operationFaults)
  faults.push(...collisions(operations))
  faults.push(...jobFaults(jobs))
  return faults
}

/**
 * Of what the documents tell of operations: to look at all of it is a sixth of what a start takes. A server comes to it when
 * it makes the documents, once it listens; `npm run check` and the tests look always.
 */
export function schemaFaultsOf(operations: readonly LoadedOperation[]): Fault[] {
  /** The named schemas of the operations before, of which each name may stand for one. */
  const components = new Map<string, JsonSchema>()
  return operations.flatMap(({ file, spec: { input, answer } }) => {
    const faults: Fault[] = []
    const fault = (wrong: string, remedy: string) => faults.push({ file, wrong, remedy })
    if (input?.query) unpublishable(input.query, 'query', fault)
    if (input?.body) unpublishable(input.body, 'body', fault, components)
    if (answer?.body) unpublishable(answer.body, 'answer', fault, components)
    return faults
  })
}

function operationFaults({ file, spec }: LoadedOperation): Fault[] {
  const faults: Fault[] = []
  const fault = (wrong: string, remedy: string) => faults.push({ file, wrong, remedy })

  if (!methods.includes(spec.method)) fault(`method ${spec.method} is none`, `one of ${methods.join(', ')}`)
  if (!/^(\/(:[a-zA-Z]+|[a-z0-9][a-z0-9.-]*))+$/.test(spec.path ?? '')) {
    fault(`path ${spec.path} is not of the form /words/:parameter`, 'write it without /v1, in lower case')
  }
  if (!spec.description?.trim()) fault('has no description', 'say in one sentence what it does to whom')
  if (typeof spec.handler !== 'function') fault('has no handler', 'write `async handler(ctx, input) { … }`')
  if (typeof spec.readOnly !== 'boolean')
    fault('does not say readOnly', 'true when it only reads, else false')

  if (!Array.isArray(spec.scopes)) fault('has no scopes', 'list them, `[]` only for what any key may call')
  else {
    for (const scope of spec.scopes) {
      if (!allScopes.includes(scope)) fault(`scope ${scope} is unknown`, `one of ${allScopes.join(', ')}`)
    }
    const extra = spec.scopes.filter((scope) => extraScopes.includes(scope))
    if (extra.length > 0 && !spec.scopes.includes('platform:write')) {
      fault(`scope ${extra[0]} stands without platform:write`, 'add platform:write')
    }
    const writes = spec.scopes.includes('platform:write')
    if (spec.readOnly === true && writes) {
      fault('is readOnly and asks for platform:write', 'readOnly: false, or platform:read alone')
    }
    if (spec.readOnly === false && !writes) {
      fault('writes and does not ask for platform:write', 'add platform:write, or readOnly: true')
    }
    if (spec.scopes.length === 0 && !spec.readOnly) fault('writes without a scope', 'add platform:write')
  }
  if (spec.readOnly && spec.lookFirst)
    fault('is readOnly and says where to look first', 'leave lookFirst out')
  if (spec.minimumRole !== undefined && !roles.includes(spec.minimumRole)) {
    fault(`minimumRole ${spec.minimumRole} is unknown`, `one of ${roles.join(', ')}`)
  }
  if (spec.readOnly && spec.transaction && spec.transaction !== 'own') {
    fault(
      'is readOnly and names a transaction',
      "leave transaction out, or write 'own' when it calls a provider",
    )
  }

  const answer = spec.answer
  if (!answer) fault('has no answer', 'write `answer: { status, body }`')
  else {
    if (![200, 201, 202, 204].includes(answer.status)) {
      fault(`answers ${answer.status}`, 'one of 200, 201, 202, 204')
    }
    if (answer.status !== 204 && !answer.body) {
      fault('its answer has no schema', 'write the schema of the body, or status 204')
    }
    if (answer.status === 204 && answer.body) fault('204 has no body', 'leave answer.body out, or status 200')
  }
  if (spec.method === 'DELETE' && spec.input?.body)
    fault('a DELETE takes no body', 'use the path or the query')
  if (spec.method === 'GET' && spec.input?.body) fault('a GET takes no body', 'use the query')
  for (const [part, schema] of [
    ['query', spec.input?.query],
    ['body', spec.input?.body],
  ] as const) {
    if (!schema) continue
    const loose = findLoose(schema, part)
    if (loose)
      fault(`${loose} lets unknown fields pass`, 'make it with object() or writeBody() of #runtime/schema')
    const endless = findEndless(schema, part)
    if (endless) fault(`${endless} is a list without a bound`, 'add .max(n): a body may have fifteen MiB')
  }
  return faults
}

function unpublishable(
  schema: z.ZodTypeAny,
  part: string,
  fault: (wrong: string, remedy: string) => void,
  components?: Map<string, JsonSchema>,
): void {
  const shapeless = findShapeless(schema, part)
  if (shapeless) fault(`${shapeless} may be anything`, 'write its shape, or .describe() why it has none')
  const odd = findOdd(schema, part)
  if (odd) {
    fault(
      `${odd} cannot be published`,
      'use instant, day, money, phone, queryInt, queryFlag of #runtime/schema',
    )
    return
  }
  try {
    publish(schema, components)
  } catch (error) {
    fault(`the schema of its ${part} cannot be published (${(error as Error).message})`, 'simplify it')
  }
}

/** Where a schema transforms or holds what JSON does not know. */
function findOdd(schema: z.ZodTypeAny, at: string): string | null {
  if (schema instanceof z.ZodEffects && schema._def.effect.type === 'transform') return `${at} (a transform)`
  const forbidden = [z.ZodDate, z.ZodBigInt, z.ZodMap, z.ZodSet, z.ZodSymbol, z.ZodFunction, z.ZodPromise]
  for (const type of forbidden) if (schema instanceof type) return `${at} (${type.name})`
  if ((schema._def as { coerce?: boolean }).coerce) return `${at} (coerce)`
  return firstBelow(schema, at, findOdd)
}

/** `any` and `unknown` where nothing on the way from the field to it says what comes there. */
function findShapeless(schema: z.ZodTypeAny, at: string): string | null {
  if (schema.description) {
    return schema instanceof z.ZodObject
      ? firstBelow(schema, at, findShapeless)
      : firstObjectBelow(schema, at)
  }
  if (schema instanceof z.ZodAny || schema instanceof z.ZodUnknown) return at
  return firstBelow(schema, at, findShapeless)
}

/** What is described here is; fields of objects below it still are to be. */
const firstObjectBelow = (schema: z.ZodTypeAny, at: string): string | null =>
  firstBelow(schema, at, (child, place) =>
    child instanceof z.ZodObject ? findShapeless(child, place) : firstObjectBelow(child, place),
  )

function findLoose(schema: z.ZodTypeAny, at: string): string | null {
  if (schema instanceof z.ZodObject && schema._def.unknownKeys !== 'strict') return at
  return firstBelow(schema, at, findLoose)
}

function findEndless(schema: z.ZodTypeAny, at: string): string | null {
  if (schema instanceof z.ZodArray && schema._def.maxLength === null) return at
  return firstBelow(schema, at, findEndless)
}

function firstBelow(
  schema: z.ZodTypeAny,
  at: string,
  find: (schema: z.ZodTypeAny, at: string) => string | null,
): string | null {
  const named: [string, z.ZodTypeAny][] =
    schema instanceof z.ZodObject
      ? Object.entries(schema.shape as Record<string, z.ZodTypeAny>).map(([key, value]) => [
          `${at}.${key}`,
          value,
        ])
      : childrenOf(schema).map((child) => [at, child])
  for (const [place, child] of named) {
    const found = find(child, place)
    if (found) return found
  }
  return null
}

function collisions(operations: readonly LoadedOperation[]): Fault[] {
  const faults: Fault[] = []
  const shapes = new Map<string, LoadedOperation>()
  const ids = new Map<string, LoadedOperation>()
  for (const operation of operations) {
    const shape = `${operation.spec.method} ${(operation.spec.path ?? '').replace(/:[a-zA-Z]+/g, ':')}`
    const twin = shapes.get(shape) ?? ids.get(operation.id)
    if (twin) {
      faults.push({
        file: operation.file,
        wrong: `answers the same requests as ${twin.file} (${operation.spec.method} ${operation.spec.path})`,
        remedy: 'change one of the two paths, or remove one file',
      })
    }
    shapes.set(shape, operation)
    ids.set(operation.id, operation)
  }
  return faults
}

function jobFaults(jobs: readonly { file: string; job: Job }[]): Fault[] {
  const faults: Fault[] = []
  const byName = new Map<string, string>()
  for (const { file, job } of jobs) {
    const name = basename(file, '.ts')
    if (job.name !== name) {
      const remedy = `name the file ${job.name}.ts, or take the handle ${name}: jobs lie queued under the handle's name`
      faults.push({ file, wrong: `takes the handle ${job.name}`, remedy })
    }
    for (const taken of [job.name, ...(job.spec.every ? [fanOutName(job)] : [])]) {
      const twin = byName.get(taken)
      if (twin) {
        const remedy = 'give each a handle of its own name'
        faults.push({ file, wrong: `takes the handle ${taken}, as ${twin} does`, remedy })
      }
      byName.set(taken, file)
    }
    if (!job.spec.safeTwice?.trim()) {
      faults.push({ file, wrong: 'does not say why it is safe to run twice', remedy: 'write safeTwice' })
    }
    if (!(job.spec.timeoutSeconds > 0))
      faults.push({ file, wrong: 'has no timeout', remedy: 'write timeoutSeconds' })
  }
  return faults
}
