import { jsonAnswer, page } from '#runtime/page'
import { protectedResource } from '../metadata.ts'

export default page({
  method: 'GET',
  path: '/.well-known/oauth-protected-resource',
  description: 'The same as below /mcp, for clients that look at the root alone.',
  trust: 'Public: it says what anybody may know.',
  handler: ({ settings }) => jsonAnswer(protectedResource(settings)),
})
