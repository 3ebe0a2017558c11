/** Runs a parsed operation over plain objects whose members are values, or functions of their arguments. */
import type { Field, Operation, Selection, Value } from './graph-parse.ts'

export type Variables = Record<string, unknown>
// biome-ignore lint/suspicious/noExplicitAny: each resolver reads the arguments of its own field
type Resolver = (args: any) => unknown
export interface GraphObject {
  __typename: string
  [field: string]: unknown
}

export class GraphError extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

function readValue(value: Value, variables: Variables): unknown {
  if (value.kind === 'literal') return value.value
  if (value.kind === 'variable') return variables[value.name]
  if (value.kind === 'list') return value.values.map((each) => readValue(each, variables))
  return Object.fromEntries(
    Object.entries(value.fields).map(([name, each]) => [name, readValue(each, variables)]),
  )
}

const argsOf = (field: Field, variables: Variables): Record<string, unknown> =>
  Object.fromEntries(Object.entries(field.args).map(([name, value]) => [name, readValue(value, variables)]))

export function requireVariables(operation: Operation, variables: Variables): void {
  for (const { name, isRequired } of operation.variables) {
    if (isRequired && (variables[name] === undefined || variables[name] === null)) {
      throw new GraphError('INVALID_VARIABLE', `Variable $${name} of type was provided invalid value`)
    }
  }
}

/** What a selection answers of an object; one that names a field it does not have is an error. */
export function run(
  object: GraphObject,
  selection: Selection[],
  variables: Variables,
): Record<string, unknown> {
  const answer: Record<string, unknown> = {}
  for (const each of selection) {
    if (each.kind === 'fragment') {
      if (each.on === object.__typename) Object.assign(answer, run(object, each.selection, variables))
      continue
    }
    if (!(each.name in object)) {
      const message = `Field '${each.name}' doesn't exist on type '${object.__typename}'`
      throw new GraphError('undefinedField', message)
    }
    const member = object[each.name]
    const args = argsOf(each, variables)
    const value = typeof member === 'function' ? (member as Resolver)(args) : member
    answer[each.alias] = selected(value, each, variables)
  }
  return answer
}

function selected(value: unknown, field: Field, variables: Variables): unknown {
  if (Array.isArray(value)) return value.map((each) => selected(each, field, variables))
  if (value === null || value === undefined || typeof value !== 'object') return value ?? null
  if (!field.selection) {
    throw new GraphError('selectionMismatch', `Field '${field.name}' must have selections`)
  }
  return run({ __typename: '', ...value }, field.selection, variables)
}

export interface PageArgs {
  first?: number
  after?: string | null
  reverse?: boolean
}

const objectsAtMost = 25_000

/** A page of a connection, by an opaque cursor. */
export function connection<T extends GraphObject>(all: readonly T[], { first, after, reverse }: PageArgs) {
  if (first === undefined) throw new GraphError('argumentLiterals', 'you must provide one of first or last')
  if (first > 250) throw new GraphError('argumentLiterals', 'first cannot exceed 250')
  const ordered = reverse ? [...all].reverse() : all
  const from = after ? Number(Buffer.from(after, 'base64').toString().replace('place:', '')) : 0
  if (Number.isNaN(from)) throw new GraphError('BAD_REQUEST', 'Invalid cursor for current pagination sort.')
  const to = Math.min(from + first, objectsAtMost)
  const nodes = ordered.slice(from, to)
  return {
    __typename: 'Connection',
    nodes,
    pageInfo: {
      __typename: 'PageInfo',
      hasNextPage: to < Math.min(ordered.length, objectsAtMost),
      endCursor: nodes.length > 0 ? Buffer.from(`place:${from + nodes.length}`).toString('base64') : null,
    },
  }
}

/** What a query may cost at most: an object 1, a connection 2 and its objects, a mutation 10. */
export function requestedCost({ type, selection }: Operation, variables: Variables): number {
  const all = costOf(selection, variables)
  return type === 'mutation' ? 10 + all - selection.length : all
}

function costOf(selection: Selection[], variables: Variables): number {
  const fragments = selection.filter((each) => each.kind === 'fragment')
  const fields = selection.filter((each) => each.kind === 'field')
  const union = Math.max(0, ...fragments.map((each) => costOf(each.selection, variables)))
  return fields.reduce((sum, field) => sum + fieldCost(field, variables), union)
}

function fieldCost(field: Field, variables: Variables): number {
  if (!field.selection || field.name === 'pageInfo') return 0
  const args = argsOf(field, variables)
  const inside = costOf(field.selection, variables)
  if (field.name === 'nodes' && !('ids' in field.args)) return inside + 1
  if ('first' in field.args) {
    const nodes = field.selection.find((each) => each.kind === 'field' && each.name === 'nodes')
    const isConnection = nodes !== undefined
    return isConnection ? 2 + Number(args.first) * inside : Number(args.first) * (1 + inside)
  }
  if ('ids' in field.args) return (args.ids as unknown[]).length * (1 + inside)
  return 1 + inside
}

/** What it did cost: the objects that came. */
export function actualCost(data: unknown): number {
  if (Array.isArray(data)) return data.reduce<number>((sum, each) => sum + actualCost(each), 0)
  if (data === null || typeof data !== 'object') return 0
  const { pageInfo: _page, ...rest } = data as Record<string, unknown>
  return 1 + Object.values(rest).reduce<number>((sum, each) => sum + actualCost(each), 0)
}
