/** Stores the responses of writes, so that a repeated request gets the same response. */
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
 * Stores a response in the transaction of the write. Needed for a response that a second run would not give again, such
 * as a coupon that is shown once. A browser that missed the response sends its form again with the same
 * `Idempotency-Key`.
 */
export async function storeResponse(tx: Context, response: Response): Promise<Response> {
  const { claim } = tx.actor
  if (!claim) return response
  const answer = await toAnswer(response)
  tx.setClosingStatement(() => claim.storeAnswerLast(tx, answer))
  return toResponse(answer)
}
