/** Stores answers of writes, so that a repeated request gets the same answer. */
import type { Context } from '#runtime/context'
import type { Answer } from '#runtime/gateway/answers'

export const toAnswer = async (response: Response): Promise<Answer> => ({
  status: response.status,
  body: await response.text(),
  headers: Object.fromEntries(response.headers),
})

export const toResponse = ({ status, body, headers }: Answer): Response =>
  new Response(body === '' ? null : body, { status, headers })

/**
 * Stores an answer that a repeated request would not get again (a coupon shown once, a refusal), in the transaction of
 * the write. A browser that missed the answer sends its form again with the same `Idempotency-Key`.
 */
export async function storeResponse(tx: Context, response: Response): Promise<Response> {
  const { claim } = tx.actor
  if (!claim) return response
  const answer = await toAnswer(response)
  tx.setClosingStatement(() => claim.storeAnswerLast(tx, answer))
  return toResponse(answer)
}
