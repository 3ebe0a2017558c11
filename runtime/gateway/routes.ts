/** Which operation an address below `/v1` means: a tree of path segments, in which a fixed one goes before a parameter. */
import { Refusal } from '#runtime/errors'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { decodeParameter } from './input.ts'

interface Branch {
  fixed: Map<string, Branch>
  parameter: Branch | null
  operation: LoadedOperation | null
}

export interface Route {
  operation: LoadedOperation
  /** By name, decoded; empty where a parameter is no text. */
  params: Record<string, string>
  /** Why a parameter cannot be read; told once the caller may know that there is such an address. */
  fault: Refusal | null
}

const noParams: Record<string, string> = Object.freeze({})
const newBranch = (): Branch => ({ fixed: new Map(), parameter: null, operation: null })
/** Segments that a URL would resolve, however they are written, and what some programs take for a slash. */
const resolvable = /\\|\/(?:\.|%2e){1,2}(?:\/|$)/i

/**
 * The path of a request target as it was sent (`/path?query`, or an absolute address); null where a program on the way
 * may have understood another address than we would: what a proxy forbids must not be reached by a second name.
 */
export function canonicalPath(target: string): string | null {
  const end = target.indexOf('?')
  const address = end < 0 ? target : target.slice(0, end)
  if (target.includes('#')) return null
  const path = address.replace(/^https?:\/\/[^/]*/i, '') || '/'
  return path.startsWith('/') && !resolvable.test(path) ? path : null
}

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
        this.#fixed.set(method, routes.set(path, { operation, params: noParams, fault: null }))
      }
    }
  }

  /**
   * `path` as it was sent, without `/v1`. Null: no operation has this method and path. Fixed segments are known as they
   * are written alone: percent-encoded ones would be a second name of the same address.
   */
  find(method: string, path: string): Route | null {
    const fixed = this.#fixed.get(method)?.get(path)
    if (fixed) return fixed
    const root = this.#methods.get(method)
    if (!root || path === '') return null
    const values: string[] = []
    const operation = match(root, path.split('/'), 1, values)
    if (!operation) return null
    const params: Record<string, string> = {}
    let fault: Refusal | null = null
    for (let i = 0; i < values.length; i += 1) {
      const name = operation.parameters[i]!
      try {
        params[name] = decodeParameter(values[i]!, name)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        params[name] = ''
        fault ??= error
      }
    }
    return { operation, params, fault }
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
