/** Reads the current state of a resource, which is compared with the `If-Match` header of a write. */
import type { Context } from '#runtime/context'
import { JsonText } from '#runtime/operation'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { getVolatileFields } from '#runtime/schema'
import { buildEtag, omitVolatileFields } from './etag.ts'

interface Input {
  params: Record<string, string>
  query: unknown
  body: unknown
}

export interface IfMatchReader {
  /** The current tag; null if there is no such resource. */
  etag(ctx: Context, input: Input): Promise<string | null>
  /** Whether reading the tag calls a provider: then no transaction may be open. */
  callsProvider: boolean
}

const readersCache = new WeakMap<readonly LoadedOperation[], Map<LoadedOperation, readonly IfMatchReader[]>>()

/**
 * Returns the readers of the resource that a write changes; empty if the write takes no `If-Match`. They are derived
 * from the paths: a write at or below the path of a read with an ETag changes that read's resource.
 */
export function getIfMatchReaders(
  operations: readonly LoadedOperation[],
  operation: LoadedOperation,
): readonly IfMatchReader[] {
  const known = readersCache.get(operations) ?? new Map<LoadedOperation, readonly IfMatchReader[]>()
  readersCache.set(operations, known)
  let readers = known.get(operation)
  if (!readers) {
    readers = findReaders(operations, operation)
    known.set(operation, readers)
  }
  return readers
}

function findReaders(operations: readonly LoadedOperation[], operation: LoadedOperation): IfMatchReader[] {
  const { readOnly, method, ifMatch, path, answer } = operation.spec
  if (readOnly || method === 'GET') return []
  if (ifMatch && 'read' in ifMatch) {
    const resource = ifMatch.of ?? answer.body
    const moves = resource ? getVolatileFields(resource) : []
    return [
      {
        callsProvider: false,
        etag: async (ctx, input) => identify(await ifMatch.read(ctx, input as never), moves),
      },
    ]
  }
  const reads = operations.filter(({ spec }) => spec.method === 'GET' && spec.etag)
  if (ifMatch) {
    return ifMatch.map((each) => {
      const read = reads.find(({ spec }) => spec.path === each)
      if (!read) throw new Error(`ifMatch of ${operation.file} names no read with an ETag: ${each}`)
      return buildReader(read)
    })
  }
  const above = reads
    .filter(({ spec }) => path === spec.path || path.startsWith(`${spec.path}/`))
    .sort((a, b) => b.spec.path.length - a.spec.path.length)
  return above.slice(0, 1).map(buildReader)
}

const buildReader = ({ spec }: LoadedOperation): IfMatchReader => ({
  callsProvider: spec.transaction === 'own',
  async etag(ctx, { params }) {
    return identify(
      await spec.handler(ctx, { params } as never),
      spec.answer.body ? getVolatileFields(spec.answer.body) : [],
    )
  },
})

function identify(result: unknown, moves: readonly string[]): string | null {
  return result === undefined || result === null ? null : buildEtag(getIdentityText(result, moves))
}

/** Returns the text that the first half of an answer's ETag is computed from. */
export function getIdentityText(result: unknown, moves: readonly string[]): string {
  const text = result instanceof JsonText ? result.identity : JSON.stringify(result)
  return omitVolatileFields(text, moves)
}
