/** Which operation an address below `/v1` means: a tree of path segments, in which a fixed one goes before a parameter. */
import type { LoadedOperation } from './registry.ts'

interface Branch {
  fixed: Map<string, Branch>
  parameter: Branch | null
  operation: LoadedOperation | null
}

export interface Route {
  operation: LoadedOperation
  /** By name, decoded; empty where a parameter is no text. */
  params: Record<string, string>
}

const noParams: Record<string, string> = Object.freeze({})
const newBranch = (): Branch => ({ fixed: new Map(), parameter: null, operation: null })
/** Stands for what cannot be decoded: no fixed segment has it, and as a parameter it is no text. */
const unreadable = '\u0000'
const control = /[\u0000-\u001f\u007f]/

export class RouteTable {
  readonly #methods = new Map<string, Branch>()
  /** By method and path, of operations whose path has no parameter: nothing goes before them. */
  readonly #fixed = new Map<string, Map<string, Route>>()

  constructor(operations: readonly LoadedOperation[]) {
    for (const operation of operations) {
      const { method, path } = operation.spec
      let branch = this.#methods.get(method)
      if (!branch) {
        branch = newBranch()
        this.#methods.set(method, branch)
      }
      for (const segment of path.slice(1).split('/')) branch = grow(branch, segment)
      branch.operation = operation
      if (operation.parameters.length === 0) {
        const routes = this.#fixed.get(method) ?? new Map<string, Route>()
        this.#fixed.set(method, routes.set(path, { operation, params: noParams }))
      }
    }
  }

  /** `path` as it was sent, without `/v1`. Null: no operation has this method and path. */
  find(method: string, path: string): Route | null {
    const fixed = this.#fixed.get(method)?.get(path)
    if (fixed) return fixed
    const root = this.#methods.get(method)
    if (!root || path === '') return null
    const segments = path.split('/')
    const decoded = path.includes('%') ? segments.map(decode) : segments
    const values: string[] = []
    const operation = match(root, decoded, 1, values)
    if (!operation) return null
    const params: Record<string, string> = {}
    for (let i = 0; i < values.length; i += 1) {
      const value = values[i]!
      params[operation.parameters[i]!] = control.test(value) || !value.isWellFormed() ? '' : value
    }
    return { operation, params }
  }
}

function grow(branch: Branch, segment: string): Branch {
  if (segment.startsWith(':')) {
    branch.parameter ??= newBranch()
    return branch.parameter
  }
  const existing = branch.fixed.get(segment)
  if (existing) return existing
  const added = newBranch()
  branch.fixed.set(segment, added)
  return added
}

/** Collects the values of parameters in the order of the path; goes back where a fixed segment led nowhere. */
function match(branch: Branch, segments: string[], at: number, values: string[]): LoadedOperation | null {
  if (at === segments.length) return branch.operation
  const segment = segments[at]!
  const fixed = branch.fixed.get(segment)
  const found = fixed ? match(fixed, segments, at + 1, values) : null
  if (found || !branch.parameter || segment === '') return found
  values.push(segment)
  const below = match(branch.parameter, segments, at + 1, values)
  if (!below) values.pop()
  return below
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return unreadable
  }
}
