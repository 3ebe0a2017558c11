/**
 * Declares routes outside `/v1`: a page behind a link, a provider's webhook, an endpoint for a shop's pages. Each is a
 * file below a section's `pages/`. Such a route takes no API key and declares how it authenticates its caller
 * (`trust`).
 */

import {
  formFields,
  formFieldsAtMost,
  parseForm,
  parseInput,
  parseQuery,
  readBodyAs,
  readParameters,
} from '#runtime/gateway/input'
import { readSubmittedFields } from '#runtime/gateway/submitted-fields'
import { readBytes, utf8Text } from '#runtime/http/body'
import { type FormEntry, parseBoundary, parseMultipart, tooManyFieldsError } from '#runtime/http/multipart'
import { rawPath, rawQuery } from '#runtime/http/target'
import type { SystemContext } from './context.ts'
import { ApiError, refuse } from './errors.ts'
import type { Method } from './roles.ts'
import type { z } from './schema.ts'

export interface Page {
  readonly kind: 'page'
  method: Method
  /** The path from the root of the server; parameters are written as `:name`. */
  path: string
  description: string
  /** Why the route is safe without a key: a token in the path, a signature, public data. */
  trust: string
  /** Whether scripts of any site may call the route, without credentials; then preflight requests are answered too. */
  cors?: boolean
  /** The deadline of the answer in seconds, if it is longer than that of other requests. */
  mayTakeSeconds?: number
  /** True if shoppers open the page: it answers HTML in the language of the store, and ignores unknown parameters. */
  forPeople?: boolean
  /** Exists only if the sandbox is on. */
  sandboxOnly?: boolean
  /**
   * The entry on the front page `/`; absent if the page is not listed. `at`: the address, if the path has parameters.
   */
  entrance?: { title: string; summary: string; at?: string }
  handler(ctx: SystemContext, request: PageRequest): Promise<Response> | Response
}

export const page = (spec: Omit<Page, 'kind'>): Page => ({ kind: 'page', ...spec })

/** A JSON answer of a page. */
export const jsonAnswer = (body: unknown, status = 200): Response =>
  new Response(status === 204 ? null : JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  })

const jsonAtMost = 1024 * 1024
const formAtMost = 64 * 1024
const formType = /^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i

/** The parameters of a query that have one of these names. */
const keepKnown = (search: string, names: object): string =>
  search
    .slice(1)
    .split('&')
    .filter((pair) => [...new URLSearchParams(pair).keys()].some((name) => Object.hasOwn(names, name)))
    .join('&')

/**
 * A request as a page's handler sees it: only through these methods, whose text `input.ts` has parsed. Control
 * characters and lone surrogates in any part that a handler reads are refused with a 400 before.
 */
export class PageRequest {
  readonly method: Method
  /** Path parameters, decoded. */
  readonly params: Record<string, string>
  /** The part of the client's address that rate limits count by. */
  readonly ip: string
  readonly #raw: Request
  readonly #forPeople: boolean
  #read: Promise<Uint8Array> | null = null
  /** Returns the fields of the submitted form again; null until the form was read. */
  #form: (() => Iterable<readonly [string, string | File]>) | null = null

  /** `path`: the path as it was sent. Refuses invalid text in the path. */
  constructor(
    raw: Request,
    { method, path: pattern, forPeople = false }: Pick<Page, 'method' | 'path' | 'forPeople'>,
    path: string,
    ip: string,
  ) {
    this.#raw = raw
    this.#forPeople = forPeople
    this.method = method
    this.ip = ip
    this.params = readParameters(pattern, path)
  }

  /** The path as it was sent, percent-encoded. */
  get rawPath(): string {
    return rawPath(this.#raw)
  }

  /** Whether the answer should be HTML, since a browser opened the page; otherwise JSON. */
  get wantsHtml(): boolean {
    return this.header('accept')?.includes('text/html') ?? false
  }

  /** Whether a page's form was submitted, rather than a script's JSON. */
  get isForm(): boolean {
    return formType.test(this.header('content-type') ?? '')
  }

  header(name: string): string | null {
    return this.#raw.headers.get(name)
  }

  /**
   * Parses the query; refuses an invalid one with a 400 that names the field. A page for people ignores unknown
   * parameters: mail programs, social networks and advertising append theirs to links (`utm_source`, `fbclid`).
   */
  query<S extends z.AnyZodObject>(schema: S): z.infer<S> {
    const search = rawQuery(this.#raw)
    const query = this.#forPeople ? keepKnown(search, schema.shape) : search
    return parseInput(schema, { ...parseQuery(query) }, 'query')
  }

  /** All parameters of the query, known or not: for an address that a provider built, such as a redirect. */
  parameters(): URLSearchParams {
    return new URLSearchParams(
      Object.entries(parseQuery(rawQuery(this.#raw))).flatMap(([name, value]) =>
        [value].flat().map((each): [string, string] => [name, each]),
      ),
    )
  }

  /** Parses the JSON body; refuses an invalid one with a 400 that names the field. */
  async json<S extends z.ZodTypeAny>(schema: S, atMost = jsonAtMost): Promise<z.infer<S>> {
    return readBodyAs(schema, await this.#text(atMost))
  }

  /** The non-empty fields of a form without files. */
  async fields(atMost = formAtMost, options: { once?: boolean } = {}): Promise<Record<string, string>> {
    if (!/^multipart\//i.test(this.header('content-type') ?? ''))
      return parseForm(await this.#formText(atMost), options)
    return (await this.filledForm(atMost)).fields
  }

  /** The non-empty fields of a form in either encoding, and its files with the names of their fields. */
  async filledForm(atMost: number): Promise<{ fields: Record<string, string>; files: [string, File][] }> {
    this.#form = () => []
    const entries = await this.#formEntries(atMost)
    this.#form = () => entries
    const isText = (entry: [string, unknown]): entry is [string, string] => typeof entry[1] === 'string'
    return {
      fields: formFields(entries.filter(isText)),
      files: entries.filter((entry): entry is [string, File] => !isText(entry)),
    }
  }

  /** The submitted fields, valid or not, only for rendering the form again. Null if they are too large. */
  async submittedFields(): Promise<Record<string, string> | null> {
    if (!this.#form) {
      try {
        await this.fields()
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
      }
    }
    return readSubmittedFields(this.#form!())
  }

  /** Parses a form or JSON, distinguished by the first character, for an address that both people and programs use. */
  async formOrJson<S extends z.ZodTypeAny>(
    schema: S,
    atMost = formAtMost,
  ): Promise<{ isJson: boolean; fields: z.infer<S> }> {
    const text = await this.#formText(atMost)
    const isJson = text.trimStart().startsWith('{')
    return { isJson, fields: isJson ? readBodyAs(schema, text) : parseInput(schema, parseForm(text), 'body') }
  }

  /**
   * The headers and the raw body, which a provider's signature covers. For webhooks only: nothing is refused here,
   * since one invalid event must not make the others fail. Each event is sanitized when it is stored (`events.accept`).
   */
  async readSigned(atMost: number): Promise<{ headers: Headers; body: Uint8Array }> {
    return { headers: this.#raw.headers, body: await this.#bytes(atMost) }
  }

  async #formText(atMost: number): Promise<string> {
    this.#form = () => []
    const text = await this.#text(atMost)
    this.#form = () => new URLSearchParams(text)
    return text
  }

  async #text(atMost: number): Promise<string> {
    return utf8Text(await this.#bytes(atMost))
  }

  /**
   * Returns address and body as they were sent, to compare requests; the body can still be read afterwards. For a form
   * with files the body is empty, since its boundary differs at each submission.
   */
  async readRaw(atMost: number): Promise<{ address: string; body: string }> {
    const address = `${rawPath(this.#raw)}${rawQuery(this.#raw)}`
    if (/^multipart\//i.test(this.header('content-type') ?? '')) return { address, body: '' }
    this.#read = this.#bytes(atMost)
    return { address, body: utf8Text(await this.#read) }
  }

  #bytes(atMost: number): Promise<Uint8Array> {
    return this.#read ?? readBytes(this.#raw, this.header('content-length') ?? undefined, atMost)
  }

  async #formEntries(atMost: number): Promise<FormEntry[]> {
    const bytes = await this.#bytes(atMost)
    const contentType = this.header('content-type') ?? ''
    const boundary = parseBoundary(contentType)
    if (boundary !== null) return parseMultipart(bytes, boundary, formFieldsAtMost)
    if (!formType.test(contentType)) throw refuse('bad_request', 'body: is no form')
    const text = utf8Text(bytes)
    if (text.split('&', formFieldsAtMost + 1).length > formFieldsAtMost) throw tooManyFieldsError()
    return [...new URLSearchParams(text)]
  }
}
