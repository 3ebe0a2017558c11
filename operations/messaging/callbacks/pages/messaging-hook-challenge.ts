import { refuse } from '#runtime/errors'
import { page } from '#runtime/page'
import { equalsInConstantTime } from '#runtime/secrets'

export default page({
  method: 'GET',
  path: '/hooks/messaging/:provider',
  description: 'Answers the messaging provider that verifies this address.',
  trust: 'The caller must know the verify token; the answer only repeats what they sent.',
  handler(ctx, request) {
    const query = request.parameters()
    const token = ctx.settings.messagingVerifyToken
    const isRight = token !== null && equalsInConstantTime(query.get('hub.verify_token') ?? '', token)
    if (!isRight || query.get('hub.mode') !== 'subscribe') {
      throw refuse('forbidden', 'The verify token is not the one of this server')
    }
    return new Response(query.get('hub.challenge') ?? '', {
      headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    })
  },
})
