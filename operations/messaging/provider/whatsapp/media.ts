/** Downloads files that contacts sent through the Cloud API. */
import { Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import { Refused, Unavailable } from '#runtime/ports/errors'
import { z } from '#runtime/schema'
import type { GraphError } from './errors.ts'
import { type Graph, GraphFailure, toNetworkError } from './graph.ts'

const mediaShape = z.object({
  url: z.string().url(),
  mime_type: z.string(),
  file_size: z.union([z.string(), z.number()]),
})

/** Streams the file. Its address is valid for a few minutes, and the download requires the token too. */
export async function fetchMedia(
  graph: Graph,
  token: string,
  mediaId: string,
): Promise<{ stream: Readable; contentType: string; size: number; fileName: string | null }> {
  const found = mediaShape.safeParse(await readMediaInfo(graph, token, mediaId))
  if (!found.success) throw new Unavailable('no', 'The provider described the file in another form')
  const { url, mime_type: contentType, file_size: size } = found.data
  const response = await openStream(url, token)
  if (response.status === 404 || response.status === 410) throw mediaGone()
  if (!response.ok || !response.body) throw new Unavailable('no', 'The provider did not hand the file out')
  return {
    stream: Readable.fromWeb(response.body as NodeStream),
    contentType,
    size: Number(size),
    fileName: null,
  }
}

const mediaGone = (): Refused => new Refused('media-gone', 'There is no such file at the provider (any more)')

const isGone = ({ code, status }: GraphError): boolean =>
  status === 404 || [33, 100, 803, 131052].includes(code)

/** Converts a refusal to a temporary error, because the file still exists, for example if the account is blocked. */
const toTemporaryError = (error: unknown): unknown =>
  error instanceof Refused ? new Unavailable('no', error.message, { cause: error }) : error

async function readMediaInfo(graph: Graph, token: string, mediaId: string): Promise<unknown> {
  try {
    return await graph.ask({ path: encodeURIComponent(mediaId), token })
  } catch (error) {
    throw error instanceof GraphFailure && isGone(error.graph)
      ? mediaGone()
      : toTemporaryError(graph.failure(error, token))
  }
}

async function openStream(url: string, token: string): Promise<Response> {
  try {
    return await fetch(url, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(60_000),
    })
  } catch (error) {
    throw toNetworkError(error)
  }
}
