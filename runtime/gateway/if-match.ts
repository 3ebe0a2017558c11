/** What an `If-Match` of a write is compared with: the resource as it is now. */
import type { Context } from '#runtime/context'
import { JsonText } from '#runtime/operation'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { movesOf } from '#runtime/schema'
import { etagOf, withoutMoves } from './etag.ts'

interface Input {
  params: Record<string, string>
  query: unknown
  body: unknown
}

export interface Reader {
  /** What `If-Match` is compared with, as a tag; null where there is no such resource. */
  etag(ctx: Context, input: Input): Promise<string | null>
  /** Whether it asks a provider: then no transaction may be open. */
  calls: boolean
}

const found = new WeakMap<readonly LoadedOperation[], Map<LoadedOperation, readonly Reader[]>>()

/**
 * The readers of what a write changes; none: it takes no `If-Match`. Nobody declares it where paths say it: a write at
 * the path of a read with an ETag, or below it, is of that resource.
 */
export function readersOf(
  operations: readonly LoadedOperation[],
  operation: LoadedOperation,
): readonly Reader[] {
  const known = found.get(operations) ?? new Map<LoadedOperation, readonly Reader[]>()
  found.set(operations, known)
  let readers = known.get(operation)
  if (!readers) {
    readers = findReaders(operations, operation)
    known.set(operation, readers)
  }
  return readers
}

function findReaders(operations: readonly LoadedOperation[], operation: LoadedOperation): Reader[] {
  const { readOnly, method, ifMatch, path, answer } = operation.spec
  if (readOnly || method === 'GET') return []
  if (ifMatch && 'read' in ifMatch) {
    const resource = ifMatch.of ?? answer.body
    const moves = resource ? movesOf(resource) : []
    return [
      { calls: false, etag: async (ctx, input) => identify(await ifMatch.read(ctx, input as never), moves) },
    ]
  }
  const reads = operations.filter(({ spec }) => spec.method === 'GET' && spec.etag)
  if (ifMatch) {
    return ifMatch.map((each) => {
      const read = reads.find(({ spec }) => spec.path === each)
      if (!read) throw new Error(`ifMatch of ${operation.file} names no read with an ETag: ${each}`)
      return readerOf(read)
    })
  }
  const above = reads
    .filter(({ spec }) => path === spec.path || path.startsWith(`${spec.path}/`))
    .sort((a, b) => b.spec.path.length - a.spec.path.length)
  return above.slice(0, 1).map(readerOf)
}

const readerOf = ({ spec }: LoadedOperation): Reader => ({
  calls: spec.transaction === 'own',
  async etag(ctx, { params }) {
    return identify(
      await spec.handler(ctx, { params } as never),
      spec.answer.body ? movesOf(spec.answer.body) : [],
    )
  },
})

function identify(result: unknown, moves: readonly string[]): string | null {
  return result === undefined || result === null ? null : etagOf(identityOf(result, moves))
}

/** What the ETag of an answer is made of. */
export function identityOf(result: unknown, moves: readonly string[]): string {
  const text = result instanceof JsonText ? result.identity : JSON.stringify(result)
  return withoutMoves(text, moves)
}
