/** Answers of writes, kept so that who asks again gets the same. */
import type { Context } from '#runtime/context'
import type { Answer } from '#runtime/gateway/answers'

export const storable = async (response: Response): Promise<Answer> => ({
  status: response.status,
  body: await response.text(),
  headers: Object.fromEntries(response.headers),
})

export const responseOf = ({ status, body, headers }: Answer): Response =>
  new Response(body === '' ? null : body, { status, headers })

/**
 * The answer of a write that would be another one once it is done (a coupon that is told once, a refusal), kept by the
 * transaction that does it: a browser that has not heard it sends its form again, under the same `Idempotency-Key`.
 */
export async function answeredIn(tx: Context, response: Response): Promise<Response> {
  const { claim } = tx.actor
  if (!claim) return response
  const answer = await storable(response)
  tx.closeWith(() => claim.keepAtLast(tx, answer))
  return responseOf(answer)
}
