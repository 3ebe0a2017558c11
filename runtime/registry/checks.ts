/** Finds issues in the declarations of operations and jobs, at start and by `npm run check`; each has a remedy. */

import { basename } from 'node:path/posix'
import { getChildSchemas, type JsonSchema, publish } from '#runtime/documents/publish'
import type { Job } from '#runtime/job'
import { fanOutName } from '#runtime/jobs/fan-out'
import type { Deprecation } from '#runtime/operation'
import { allScopes, roles } from '#runtime/roles'
import { z } from '#runtime/schema'
import { isRealDay } from '#runtime/values/days'
import type { LoadedOperation } from './loaded.ts'
import { findMonitor, listMonitorParameters } from './monitor.ts'

export interface Issue {
  file: string
  wrong: string
  remedy: string
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const extraScopes = ['messages:send', 'billing:write', 'team:write', 'integrations:write']

/** Finds the issues of each operation and job, and conflicts between them. */
export function findIssues(
  operations: readonly LoadedOperation[],
  jobs: readonly { file: string; job: Job }[],
): Issue[] {
  const issues = operations.flatMap(findOperationIssues)
  issues.push(...findCollisions(operations))
  issues.push(...findMonitorIssues(operations))
  issues.push(...findJobIssues(jobs))
  return issues
}

/**
 * Finds the issues of published schemas. A starting server skips this check, which takes a sixth of the start: it finds
 * such an issue later, when it builds the documents. `npm run check` and the tests always check the schemas.
 */
export function findSchemaIssues(operations: readonly LoadedOperation[]): Issue[] {
  /** Named schemas of all operations so far, to find a name that is used for two different schemas. */
  const components = new Map<string, JsonSchema>()
  return operations.flatMap(({ file, spec: { input, answer } }) => {
    const issues: Issue[] = []
    const report = (wrong: string, remedy: string) => issues.push({ file, wrong, remedy })
    if (input?.query) checkPublishable(input.query, 'query', report)
    if (input?.body) checkPublishable(input.body, 'body', report, components)
    if (answer?.body) checkPublishable(answer.body, 'answer', report, components)
    return issues
  })
}

function findOperationIssues({ file, spec }: LoadedOperation): Issue[] {
  const issues: Issue[] = []
  const report = (wrong: string, remedy: string) => issues.push({ file, wrong, remedy })

  if (!methods.includes(spec.method)) report(`method ${spec.method} is none`, `one of ${methods.join(', ')}`)
  if (!/^(\/(:[a-zA-Z]+|[a-z0-9][a-z0-9.-]*))+$/.test(spec.path ?? '')) {
    report(`path ${spec.path} is not of the form /words/:parameter`, 'write it without /v1, in lower case')
  }
  if (!spec.description?.trim()) report('has no description', 'say in one sentence what it does to whom')
  if (typeof spec.handler !== 'function') report('has no handler', 'write `async handler(ctx, input) { … }`')
  if (typeof spec.readOnly !== 'boolean')
    report('does not say readOnly', 'true when it only reads, else false')

  if (!Array.isArray(spec.scopes)) report('has no scopes', 'list them, `[]` only for what any key may call')
  else {
    for (const scope of spec.scopes) {
      if (!allScopes.includes(scope)) report(`scope ${scope} is unknown`, `one of ${allScopes.join(', ')}`)
    }
    const extra = spec.scopes.filter((scope) => extraScopes.includes(scope))
    if (extra.length > 0 && !spec.scopes.includes('platform:write')) {
      report(`scope ${extra[0]} stands without platform:write`, 'add platform:write')
    }
    const writes = spec.scopes.includes('platform:write')
    if (spec.readOnly === true && writes) {
      report('is readOnly and asks for platform:write', 'readOnly: false, or platform:read alone')
    }
    if (spec.readOnly === false && !writes) {
      report('writes and does not ask for platform:write', 'add platform:write, or readOnly: true')
    }
    if (spec.scopes.length === 0 && !spec.readOnly) report('writes without a scope', 'add platform:write')
  }
  if (spec.readOnly && spec.lookFirst)
    report('is readOnly and says where to look first', 'leave lookFirst out')
  if (spec.minimumRole !== undefined && !roles.includes(spec.minimumRole)) {
    report(`minimumRole ${spec.minimumRole} is unknown`, `one of ${roles.join(', ')}`)
  }
  if (spec.readOnly && spec.transaction && spec.transaction !== 'own') {
    report(
      'is readOnly and names a transaction',
      "leave transaction out, or write 'own' when it calls a provider",
    )
  }

  const { deprecated } = spec
  if (deprecated) checkDeprecation(deprecated, report)

  const answer = spec.answer
  if (!answer) report('has no answer', 'write `answer: { status, body }`')
  else {
    if (![200, 201, 202, 204].includes(answer.status)) {
      report(`answers ${answer.status}`, 'one of 200, 201, 202, 204')
    }
    if (answer.status !== 204 && !answer.body) {
      report('its answer has no schema', 'write the schema of the body, or status 204')
    }
    if (answer.status === 204 && answer.body)
      report('204 has no body', 'leave answer.body out, or status 200')
  }
  if (spec.method === 'DELETE' && spec.input?.body)
    report('a DELETE takes no body', 'use the path or the query')
  if (spec.method === 'GET' && spec.input?.body) report('a GET takes no body', 'use the query')
  for (const [part, schema] of [
    ['query', spec.input?.query],
    ['body', spec.input?.body],
  ] as const) {
    if (!schema) continue
    const loose = findLoose(schema, part)
    if (loose)
      report(`${loose} lets unknown fields pass`, 'make it with object() or writeBody() of #runtime/schema')
    const endless = findUnbounded(schema, part)
    if (endless) report(`${endless} is a list without a bound`, 'add .max(n): a body may have fifteen MiB')
  }
  return issues
}

type Report = (wrong: string, remedy: string) => void

function checkDeprecation({ since, sunset, link }: Deprecation, report: Report): void {
  for (const day of new Set([since, sunset ?? since])) {
    if (!isRealDay(day)) report(`is deprecated by ${day}, which is no day`, 'write it as 2026-11-20')
  }
  if (sunset !== undefined && sunset < since)
    report('its sunset is before its deprecation', 'set a later sunset')
  if (link !== undefined && !/^(https:\/\/|\/)[^\s<>"]+$/.test(link))
    report(`its link ${link} is no address`, 'write https://… or a path of this server')
}

function checkPublishable(
  schema: z.ZodTypeAny,
  part: string,
  report: Report,
  components?: Map<string, JsonSchema>,
): void {
  const shapeless = findShapeless(schema, part)
  if (shapeless) report(`${shapeless} may be anything`, 'write its shape, or .describe() why it has none')
  const odd = findUnpublishable(schema, part)
  if (odd) {
    report(
      `${odd} cannot be published`,
      'use instant, day, money, phone, queryInt, queryFlag of #runtime/schema',
    )
    return
  }
  try {
    publish(schema, components)
  } catch (error) {
    report(`the schema of its ${part} cannot be published (${(error as Error).message})`, 'simplify it')
  }
}

/** Finds a schema that transforms its value, or whose value JSON cannot represent. */
function findUnpublishable(schema: z.ZodTypeAny, at: string): string | null {
  if (schema instanceof z.ZodEffects && schema._def.effect.type === 'transform') return `${at} (a transform)`
  const forbidden = [z.ZodDate, z.ZodBigInt, z.ZodMap, z.ZodSet, z.ZodSymbol, z.ZodFunction, z.ZodPromise]
  for (const type of forbidden) if (schema instanceof type) return `${at} (${type.name})`
  if ((schema._def as { coerce?: boolean }).coerce) return `${at} (coerce)`
  return firstBelow(schema, at, findUnpublishable)
}

/** Finds an `any` or `unknown` for which neither the field nor a schema around it has a description. */
function findShapeless(schema: z.ZodTypeAny, at: string): string | null {
  if (schema.description) {
    return schema instanceof z.ZodObject
      ? firstBelow(schema, at, findShapeless)
      : firstObjectBelow(schema, at)
  }
  if (schema instanceof z.ZodAny || schema instanceof z.ZodUnknown) return at
  return firstBelow(schema, at, findShapeless)
}

/** Checks the objects below a described field: its description does not cover their fields. */
const firstObjectBelow = (schema: z.ZodTypeAny, at: string): string | null =>
  firstBelow(schema, at, (child, place) =>
    child instanceof z.ZodObject ? findShapeless(child, place) : firstObjectBelow(child, place),
  )

function findLoose(schema: z.ZodTypeAny, at: string): string | null {
  if (schema instanceof z.ZodObject && schema._def.unknownKeys !== 'strict') return at
  return firstBelow(schema, at, findLoose)
}

function findUnbounded(schema: z.ZodTypeAny, at: string): string | null {
  if (schema instanceof z.ZodArray && schema._def.maxLength === null) return at
  return firstBelow(schema, at, findUnbounded)
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
      : getChildSchemas(schema).map((child) => [at, child])
  for (const [place, child] of named) {
    const found = find(child, place)
    if (found) return found
  }
  return null
}

function findCollisions(operations: readonly LoadedOperation[]): Issue[] {
  const issues: Issue[] = []
  const shapes = new Map<string, LoadedOperation>()
  const ids = new Map<string, LoadedOperation>()
  for (const operation of operations) {
    const shape = `${operation.spec.method} ${(operation.spec.path ?? '').replace(/:[a-zA-Z]+/g, ':')}`
    const twin = shapes.get(shape) ?? ids.get(operation.id)
    if (twin) {
      issues.push({
        file: operation.file,
        wrong: `answers the same requests as ${twin.file} (${operation.spec.method} ${operation.spec.path})`,
        remedy: 'change one of the two paths, or remove one file',
      })
    }
    shapes.set(shape, operation)
    ids.set(operation.id, operation)
  }
  return issues
}

/** Every 202 names the read that shows how far its work is, with parameters that a caller knows. */
function findMonitorIssues(operations: readonly LoadedOperation[]): Issue[] {
  return operations.flatMap(({ file, spec: { monitor, answer }, parameters }) => {
    const isAccepted = answer?.status === 202
    if (monitor === undefined) {
      const remedy = 'write `monitor`: the path of the read that shows how far its work is'
      return isAccepted ? [{ file, wrong: 'answers 202 and names no monitor', remedy }] : []
    }
    if (!isAccepted) {
      return [{ file, wrong: `answers ${answer?.status} and names a monitor`, remedy: 'leave monitor out' }]
    }
    if (!findMonitor(operations, monitor)) {
      return [{ file, wrong: `its monitor ${monitor} is no read`, remedy: 'write the path of a read' }]
    }
    const fields = answer.body instanceof z.ZodObject ? Object.keys(answer.body.shape) : []
    const unknown = listMonitorParameters(monitor).filter(
      (name) => !parameters.includes(name) && !fields.includes(name),
    )
    const remedy = 'name a parameter of its path or a field of its answer'
    return unknown.map((name) => ({ file, wrong: `its monitor has the unknown parameter :${name}`, remedy }))
  })
}

function findJobIssues(jobs: readonly { file: string; job: Job }[]): Issue[] {
  const issues: Issue[] = []
  const byName = new Map<string, string>()
  for (const { file, job } of jobs) {
    const name = basename(file, '.ts')
    if (job.name !== name) {
      const remedy = `name the file ${job.name}.ts, or take the handle ${name}: jobs lie queued under the handle's name`
      issues.push({ file, wrong: `takes the handle ${job.name}`, remedy })
    }
    for (const handleName of [job.name, ...(job.spec.every ? [fanOutName(job)] : [])]) {
      const twin = byName.get(handleName)
      if (twin) {
        const remedy = 'give each a handle of its own name'
        issues.push({ file, wrong: `takes the handle ${handleName}, as ${twin} does`, remedy })
      }
      byName.set(handleName, file)
    }
    if (!job.spec.safeTwice?.trim()) {
      issues.push({ file, wrong: 'does not say why it is safe to run twice', remedy: 'write safeTwice' })
    }
    if (!(job.spec.timeoutSeconds > 0))
      issues.push({ file, wrong: 'has no timeout', remedy: 'write timeoutSeconds' })
  }
  return issues
}
