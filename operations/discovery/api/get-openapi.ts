import { JsonText, operation } from '#runtime/operation'
import { openApi } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/openapi.json',
  description: 'Get the OpenAPI 3.1 document of the whole API.',
  details: 'The same for everybody; a key in the request is ignored.',
  words: 'api document, reference, swagger',
  scopes: [],
  readOnly: true,
  public: 'It describes the API and holds nothing of any store.',
  answer: { status: 200, body: openApi, description: 'The document.' },
  etag: true,
  cache: 'public, max-age=300',
  handler: (ctx) => new JsonText(ctx.services.catalog.document()),
})
