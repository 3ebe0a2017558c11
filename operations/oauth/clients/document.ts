/** A client whose id is the address of a document that says who it is (OAuth Client ID Metadata Document). */

import { Refusal } from '#runtime/errors'
import { parseJson, read } from '#runtime/gateway/input'
import { utf8Text } from '#runtime/http/body'
import { fetchPublic, type Means, NotFetched } from '#runtime/http/public-fetch'
import { z } from '#runtime/schema'
import { OauthError } from '../errors.ts'
import { type Client, clientMetadata, clientOf } from './metadata.ts'

const document = clientMetadata.extend({
  client_id: z.string().max(2000),
  client_secret: z.undefined({ invalid_type_error: 'must not be there: everybody may read this document' }),
})

/** An https address with a path, and nothing in it that could be written another way. */
export function isDocumentAddress(id: string): boolean {
  if (!id.startsWith('https://') || id.length > 2000 || !URL.canParse(id)) return false
  const url = new URL(id)
  return (
    url.href === id && url.pathname !== '/' && !id.includes('#') && url.username === '' && url.password === ''
  )
}

/** Reads it. Throws `invalid_request` with what is in the way: it is nowhere on the public internet, or is none. */
export async function readDocument(id: string, means: Means = {}): Promise<Client> {
  try {
    const { bytes } = await fetchPublic(
      id,
      {
        accept: 'application/json',
        withinMs: 5000,
        bytesAtMost: 16 * 1024,
        // Who is answered for it is who the address names.
        redirectsAtMost: 0,
        checkType(contentType) {
          if (!/^application\/(?:[\w.-]+\+)?json$/.test(contentType)) throw new NotFetched('it is no JSON')
        },
      },
      means,
    )
    const found = read(document, parseJson(utf8Text(bytes)) ?? {}, 'body')
    if (found.client_id !== id) throw new NotFetched('its client_id names another address')
    return { ...clientOf(id, found), document: new URL(id).host }
  } catch (error) {
    if (!(error instanceof NotFetched || error instanceof Refusal || error instanceof OauthError)) throw error
    throw new OauthError('invalid_request', `client_id: its document cannot be used: ${error.message}`)
  }
}
