/** Runs the handler in its transaction, checks If-Match before, and stores the answer for the Idempotency-Key after. */
import { runFor } from '#db/owner'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import type { Answer } from '../answers.ts'
import type { Call } from '../call.ts'
import { timeoutError } from '../deadline.ts'
import { matchesEtag, parseTags, toIdentityTag } from '../etag.ts'
import { claimLostError } from '../idempotency.ts'
import { getIfMatchReaders, type IfMatchReader } from '../if-match.ts'
import { pickStoredHeaders, toAnswer } from './answer.ts'

export const runHandler = (call: Call): Promise<void> => runFor(call.access?.storeId, () => run(call))

function run(call: Call): Promise<void> {
  const alone = findUnguardedContext(call)
  if (alone) return callHandler(call, alone).then((result) => setAnswer(call, toAnswer(call, result)))
  return runGuarded(call, call.context!).then((answer) => setAnswer(call, answer))
}

/**
 * Returns the context of a handler that needs no transaction, no If-Match check and no stored answer: a read, or a
 * write in one statement. Null for any other handler.
 */
function findUnguardedContext(call: Call): Context | null {
  const { operation, context, gateway, claim } = call
  const { readOnly, public: isPublic, transaction } = operation!.spec
  if (readOnly) return !gateway.strict || isPublic || transaction === 'own' ? context : null
  if (transaction !== 'statement' || claim) return null
  return parseIfMatch(call) ? null : context!.forOneStatement()
}

interface IfMatchCondition {
  readers: readonly IfMatchReader[]
  tags: readonly string[]
}

/** Returns null without the header, or if it is `*`, which only requires that the resource exists. */
function parseIfMatch({ operation, gateway, request }: Call): IfMatchCondition | null {
  const header = request.header('if-match')?.trim()
  if (header === undefined || header === '*') return null
  const readers = getIfMatchReaders(gateway.registry.operations, operation!)
  return readers.length === 0 ? null : { readers, tags: parseTags(header).map(toIdentityTag) }
}

/** The handler's result or error, always as a promise. */
const callHandler = ({ operation, params, query, body }: Call, ctx: Context): Promise<unknown> =>
  Promise.try(operation!.spec.handler, ctx, { params, query, body } as never)

/** A write, or a read that the tests run in a read-only transaction. */
async function runGuarded(call: Call, ctx: Context): Promise<Answer> {
  const { spec } = call.operation!
  const condition = parseIfMatch(call)
  // After a timeout was answered, the caller may send the request again, so this attempt must not commit any more.
  // Outside a transaction the work may already have called a provider: it goes on, and its answer is stored under the
  // Idempotency-Key.
  const requireInTime = (within: Context): void => {
    if (call.isLate && within.inTransaction) throw timeoutError(call.gateway.deadline)
  }
  const finish = async (within: Context): Promise<Answer> => {
    requireInTime(within) // a retry may begin late
    if (condition) await matchOrRefuse(call, within, condition)
    const answer = toAnswer(call, await callHandler(call, within))
    requireInTime(within)
    const { claim } = call
    if (claim) {
      const stored = { ...answer, headers: pickStoredHeaders(answer) }
      if (within.inTransaction) within.setClosingStatement(() => claim.storeAnswerLast(within, stored))
      else if (!(await claim.storeAnswer(within, stored))) throw claimLostError()
    }
    return answer
  }
  if (spec.readOnly) return ctx.readOnly(finish)
  if (spec.transaction === 'own') {
    // Checked now, and again in the transaction that writes: another write may come while a provider is called.
    const isReadInside = condition?.readers.every((reader) => !reader.callsProvider)
    return finish(isReadInside ? ctx.withGuard((tx) => matchOrRefuse(call, tx, condition!)) : ctx)
  }
  // With If-Match, a row that changes after the comparison aborts the transaction; the retry compares again.
  return ctx.transaction(finish, condition ? 'repeatable read' : undefined)
}

async function matchOrRefuse(call: Call, ctx: Context, { readers, tags }: IfMatchCondition): Promise<void> {
  const { params, query, body } = call
  for (const reader of readers) {
    const current = await reader.etag(ctx, { params, query, body })
    if (current !== null && tags.includes(current)) return
  }
  throw refuse('conflict', 'If-Match: the resource has changed since it was read: read it again')
}

function setAnswer(call: Call, answer: Answer): void {
  call.claim?.stopRenewal()
  call.claim = null
  call.answer = isNotModified(call, answer) ? { ...answer, status: 304, body: '' } : answer
}

/** Whether the caller has this answer already, by its `If-None-Match`. */
function isNotModified({ operation, request }: Call, { headers, status }: Answer): boolean {
  const named = request.header('if-none-match')
  return named !== undefined && operation!.spec.readOnly && status === 200 && matchesEtag(named, headers.etag)
}
