/** Compresses texts that many browsers fetch: once, at the first request and off the main thread. */
import { createHash } from 'node:crypto'
import { matchesEtag } from '#runtime/gateway/etag'
import { type Bytes, chooseEncoding, compress, type Effort, type Encoding } from './compression.ts'

export class CompressedText {
  readonly type: string
  readonly etag: string
  readonly text: string
  readonly #effort: Effort
  readonly #bodies = new Map<Encoding, Promise<Bytes>>()

  /**
   * `etag`: a tag that replaces the default, a hash of the text. `br`: the text, already compressed by Brotli.
   */
  constructor(
    text: string,
    { type, effort, etag, br }: { type: string; effort: Effort; etag?: string | undefined; br?: Bytes },
  ) {
    if (br) this.#bodies.set('br', Promise.resolve(br))
    this.type = type
    this.etag = etag ?? `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
    this.text = text
    this.#effort = effort
  }

  body(encoding: Encoding): Promise<Bytes> {
    let body = this.#bodies.get(encoding)
    if (!body) {
      body = compress(this.text, encoding, this.#effort)
      this.#bodies.set(encoding, body)
    }
    return body
  }
}

/** Answers in the encoding that the browser prefers; 304 if it has the text already. */
export async function answerCompressed(
  packed: CompressedText,
  request: { header(name: string): string | null },
  headers: Record<string, string>,
): Promise<Response> {
  const all = { ...headers, vary: 'accept-encoding', etag: packed.etag }
  if (matchesEtag(request.header('if-none-match') ?? undefined, packed.etag)) {
    return new Response(null, { status: 304, headers: all })
  }
  const encoding = chooseEncoding(request.header('accept-encoding'), ['br', 'gzip'])
  return new Response(await packed.body(encoding), {
    headers: {
      ...all,
      'content-type': packed.type,
      'x-content-type-options': 'nosniff',
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    },
  })
}
