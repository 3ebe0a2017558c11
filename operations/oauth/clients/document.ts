/** A client whose id is the URL of its metadata document (OAuth Client ID Metadata Document). */

import { ApiError } from '#runtime/errors'
import { parseInput, parseJson } from '#runtime/gateway/input'
import { utf8Text } from '#runtime/http/body'
import { FetchFailed, type FetchOverrides, fetchPublic } from '#runtime/http/public-fetch'
import { z } from '#runtime/schema'
import { OauthError } from '../errors.ts'
import { type Client, clientMetadata, toClient } from './metadata.ts'

const document = clientMetadata.extend({
  client_id: z.string().max(2000),
  client_secret: z.undefined({ invalid_type_error: 'must not be there: everybody may read this document' }),
})

/** Whether the id is an https URL with a path, in its canonical form. */
export function isDocumentAddress(id: string): boolean {
  if (!id.startsWith('https://') || id.length > 2000 || !URL.canParse(id)) return false
  const url = new URL(id)
  return (
    url.href === id && url.pathname !== '/' && !id.includes('#') && url.username === '' && url.password === ''
  )
}

/** Fetches and validates the document. Throws `invalid_request` when it is not on the public internet or is invalid. */
export async function readDocument(id: string, overrides: FetchOverrides = {}): Promise<Client> {
  try {
    const { bytes } = await fetchPublic(
      id,
      {
        accept: 'application/json',
        withinMs: 5000,
        bytesAtMost: 16 * 1024,
        // Redirects are not followed: the host in the client's id must serve the document itself.
        redirectsAtMost: 0,
        checkType(contentType) {
          if (!/^application\/(?:[\w.-]+\+)?json$/.test(contentType)) throw new FetchFailed('it is no JSON')
        },
      },
      overrides,
    )
    const found = parseInput(document, parseJson(utf8Text(bytes)), 'body')
    if (found.client_id !== id) throw new FetchFailed('its client_id names another address')
    return { ...toClient(id, found), document: new URL(id).host }
  } catch (error) {
    if (!(error instanceof FetchFailed || error instanceof ApiError || error instanceof OauthError))
      throw error
    throw new OauthError('invalid_request', `client_id: its document cannot be used: ${error.message}`)
  }
}
