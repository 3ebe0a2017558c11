import { jsonAnswer, page } from '#runtime/page'
import { authorizationServer } from '../metadata.ts'

export default page({
  method: 'GET',
  path: '/.well-known/oauth-authorization-server',
  description: 'Where clients register, ask for consent, and get and end keys (RFC 8414).',
  trust: 'Public: it says what anybody may know.',
  handler: ({ settings }) => jsonAnswer(authorizationServer(settings)),
})
