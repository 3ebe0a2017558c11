import { jsonAnswer, page } from '#runtime/page'
import { metadataPath, protectedResource } from '../metadata.ts'

export default page({
  method: 'GET',
  path: metadataPath,
  description: 'What /mcp is and who grants keys for it, for clients that connect by OAuth (RFC 9728).',
  trust: 'Public: it says what anybody may know.',
  handler: ({ settings }) => jsonAnswer(protectedResource(settings)),
})
