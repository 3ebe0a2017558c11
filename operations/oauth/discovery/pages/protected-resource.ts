import { jsonAnswer, page } from '#runtime/page'
import { buildProtectedResource, metadataPath } from '../metadata.ts'

export default page({
  method: 'GET',
  path: metadataPath,
  description:
    'The resource /mcp and its authorization server, for clients that connect by OAuth (RFC 9728).',
  trust: 'Public: it says what anybody may know.',
  cors: true,
  handler: ({ settings }) => jsonAnswer(buildProtectedResource(settings)),
})
