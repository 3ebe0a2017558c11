/** Runs the handler, with what is to be done around it: a transaction, an If-Match, the answer kept for its key. */
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { Answer } from '../answers.ts'
import type { Call } from '../call.ts'
import { tooLate } from '../deadline.ts'
import { identityOfTag, isNamedBy, tagsOf } from '../etag.ts'
import { lost } from '../idempotency.ts'
import { type Reader, readersOf } from '../if-match.ts'
import { ownHeaders, toAnswer } from './answer.ts'

export function runHandler(call: Call): Promise<void> {
  const alone = contextAlone(call)
  if (alone) return handled(call, alone).then((result) => leave(call, toAnswer(call, result)))
  return runGuarded(call, call.context!).then((answer) => leave(call, answer))
}

/** The context of a handler with nothing to be done around it: a read, or a write in one statement. Null: there is. */
function contextAlone(call: Call): Context | null {
  const { operation, context, gateway, claim } = call
  const { readOnly, public: isPublic, transaction } = operation!.spec
  if (readOnly) return !gateway.strict || isPublic || transaction === 'own' ? context : null
  if (transaction !== 'statement' || claim) return null
  return ifMatchOf(call) ? null : context!.forOneStatement()
}

interface Wanted {
  readers: readonly Reader[]
  tags: readonly string[]
}

/** Null where the request has none, or it says no more than that there is one. */
function ifMatchOf({ operation, gateway, request }: Call): Wanted | null {
  const header = request.header('if-match')?.trim()
  if (header === undefined || header === '*') return null
  const readers = readersOf(gateway.registry.operations, operation!)
  return readers.length === 0 ? null : { readers, tags: tagsOf(header).map(identityOfTag) }
}

/** What the handler answers or throws, as a promise whatever it is. */
const handled = ({ operation, params, query, body }: Call, ctx: Context): Promise<unknown> =>
  Promise.try(operation!.spec.handler, ctx, { params, query, body } as never)

/** A write, or a read that the tests prove to be one. */
async function runGuarded(call: Call, ctx: Context): Promise<Answer> {
  const { spec } = call.operation!
  const wanted = ifMatchOf(call)
  // Whoever was told that it failed may send it again. What has called a provider by now is told by its key.
  const requireInTime = (within: Context): void => {
    if (call.isLate && within.inTransaction) throw tooLate(call.gateway.deadline)
  }
  const finish = async (within: Context): Promise<Answer> => {
    requireInTime(within) // it may begin anew
    if (wanted) await matchOrRefuse(call, within, wanted)
    const answer = toAnswer(call, await handled(call, within))
    requireInTime(within)
    const { claim } = call
    if (claim) {
      const stored = { ...answer, headers: ownHeaders(answer) }
      if (within.inTransaction) within.closeWith(() => claim.keepAtLast(within, stored))
      else if (!(await claim.keep(within, stored))) throw lost()
    }
    return answer
  }
  if (spec.readOnly) return ctx.readOnly(finish)
  if (spec.transaction === 'own') {
    // Asked at once, and again in the transaction that writes: somebody else may write while a provider is asked.
    const isReadInside = wanted?.readers.every((reader) => !reader.calls)
    return finish(isReadInside ? ctx.guarded((tx) => matchOrRefuse(call, tx, wanted!)) : ctx)
  }
  // With If-Match a row that changes after it was compared fails the write, which is compared anew.
  return ctx.transaction(finish, wanted ? 'repeatable read' : undefined)
}

async function matchOrRefuse(call: Call, ctx: Context, { readers, tags }: Wanted): Promise<void> {
  const { params, query, body } = call
  for (const reader of readers) {
    const current = await reader.etag(ctx, { params, query, body })
    if (current !== null && tags.includes(current)) return
  }
  throw refuse('conflict', 'If-Match: the resource has changed since it was read: read it again')
}

function leave(call: Call, answer: Answer): void {
  call.claim?.end()
  call.claim = null
  call.answer = isKnown(call, answer) ? { ...answer, status: 304, body: '' } : answer
}

/** Whether the caller has this answer already. */
function isKnown({ operation, request }: Call, { headers, status }: Answer): boolean {
  const named = request.header('if-none-match')
  return named !== undefined && operation!.spec.readOnly && status === 200 && isNamedBy(named, headers.etag)
}
