import { jsonAnswer, page } from '#runtime/page'
import { buildProtectedResource } from '../metadata.ts'

export default page({
  method: 'GET',
  path: '/.well-known/oauth-protected-resource',
  description: 'The metadata of /mcp, for clients that only look at the root.',
  trust: 'Public: it says what anybody may know.',
  cors: true,
  handler: ({ settings }) => jsonAnswer(buildProtectedResource(settings)),
})
