import { jsonAnswer, page } from '#runtime/page'
import { buildAuthorizationServer } from '../metadata.ts'

export default page({
  method: 'GET',
  path: '/.well-known/oauth-authorization-server',
  description: 'The addresses for registration, consent, tokens and revocation (RFC 8414).',
  trust: 'Public: it says what anybody may know.',
  cors: true,
  handler: ({ settings }) => jsonAnswer(buildAuthorizationServer(settings)),
})
