/**
 * A route outside `/v1` (a page behind a link, a provider's hook, what a shop's pages read): one file below a section's
 * `pages/`. It has no key: each says how it knows its caller.
 */

import {
  formFields,
  formFieldsAtMost,
  parseForm,
  parseQuery,
  read,
  readBodyAs,
  readParameters,
} from '#runtime/gateway/input'
import { typedFields } from '#runtime/gateway/typed-fields'
import { readBytes, utf8Text } from '#runtime/http/body'
import { boundaryOf, type FormEntry, formEntries, tooManyFields } from '#runtime/http/multipart'
import { rawPath, rawQuery } from '#runtime/http/target'
import type { SystemContext } from './context.ts'
import { Refusal, refuse } from './errors.ts'
import type { Method } from './roles.ts'
import type { z } from './schema.ts'

export interface Page {
  readonly kind: 'page'
  method: Method
  /** From the root of the server, parameters as `:name`. */
  path: string
  description: string
  /** Why it is safe without a key: a token in the path, a signature, public data. */
  trust: string
  /** Scripts of any other site may call it, without credentials; preflights are answered. */
  cors?: boolean
  /** Where an answer may take longer than that of any other request. */
  mayTakeSeconds?: number
  /** Shoppers open it: it is HTML for them, in the language of the store. */
  forPeople?: boolean
  /** Only where the sandbox is on. */
  sandboxOnly?: boolean
  /** Who comes to `/` is led to it: by `at`, where its own path names something. */
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

/**
 * What a page is told of its request, and all that it is: text that `input.ts` has read. What no text may hold (control
 * characters, halves of characters) is refused with a 400 before a handler sees it, whichever part it came in.
 */
export class PageRequest {
  readonly method: Method
  /** Path parameters, decoded. */
  readonly params: Record<string, string>
  /** What of the client's address counts for limits. */
  readonly ip: string
  readonly #raw: Request
  readonly #query: Record<string, string | string[]>
  #read: Promise<Uint8Array> | null = null
  /** What a form was sent with, as it came. Null: nobody has read it. */
  #form: (() => Iterable<readonly [string, string | File]>) | null = null

  /** `path`: as it was sent. Refuses what is no text in it and in the query. */
  constructor(
    raw: Request,
    { method, path: pattern }: Pick<Page, 'method' | 'path'>,
    path: string,
    ip: string,
  ) {
    this.#raw = raw
    this.method = method
    this.ip = ip
    this.params = readParameters(pattern, path)
    this.#query = parseQuery(rawQuery(raw))
  }

  /** Its path, as it was sent. */
  get address(): string {
    return rawPath(this.#raw)
  }

  /** Whether a person opened it: HTML then, JSON otherwise. */
  get wantsHtml(): boolean {
    return this.header('accept')?.includes('text/html') ?? false
  }

  /** Whether a page's form was sent, and no script's JSON. */
  get isForm(): boolean {
    return formType.test(this.header('content-type') ?? '')
  }

  header(name: string): string | null {
    return this.#raw.headers.get(name)
  }

  /** The query, refused with a 400 that names the field. */
  query<S extends z.ZodTypeAny>(schema: S): z.infer<S> {
    return read(schema, { ...this.#query }, 'query')
  }

  /** The query of an address that others put together (a provider's way back): what it says, known or not. */
  parameters(): URLSearchParams {
    return new URLSearchParams(
      Object.entries(this.#query).flatMap(([name, value]) =>
        [value].flat().map((each): [string, string] => [name, each]),
      ),
    )
  }

  /** The JSON body, refused with a 400 that names the field. */
  async json<S extends z.ZodTypeAny>(schema: S, atMost = jsonAtMost): Promise<z.infer<S>> {
    return readBodyAs(schema, await this.#text(atMost))
  }

  /** The filled fields of a form without files. */
  async fields(atMost = formAtMost, options: { once?: boolean } = {}): Promise<Record<string, string>> {
    if (!/^multipart\//i.test(this.header('content-type') ?? ''))
      return parseForm(await this.#formText(atMost), options)
    return (await this.filledForm(atMost)).fields
  }

  /** A form of either encoding, with its files by the name of their field. */
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

  /**
   * What a form was filled in with, whatever of it was refused: to be shown again and for nothing else. Null where there
   * is too much of it.
   */
  async typed(): Promise<Record<string, string> | null> {
    if (!this.#form) {
      try {
        await this.fields()
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
      }
    }
    return typedFields(this.#form!())
  }

  /** A form or JSON, which an address that people and programs use tells apart by how it begins. */
  async formOrJson<S extends z.ZodTypeAny>(
    schema: S,
    atMost = formAtMost,
  ): Promise<{ isJson: boolean; fields: z.infer<S> }> {
    const text = await this.#formText(atMost)
    const isJson = text.trimStart().startsWith('{')
    return { isJson, fields: isJson ? readBodyAs(schema, text) : read(schema, parseForm(text), 'body') }
  }

  /**
   * What a provider's signature covers, as it came: for hooks alone, whose events are cleaned one by one as they are
   * stored (`events.accept`), so that one of them cannot spoil the others.
   */
  async signed(atMost: number): Promise<{ headers: Headers; body: Uint8Array }> {
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
   * Address and body as they were sent, to tell whether another request is the same; the body stays for who reads it
   * afterwards. The parts of a form with files are cut differently at each sending: its address alone is told.
   */
  async sent(atMost: number): Promise<{ address: string; body: string }> {
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
    const boundary = boundaryOf(contentType)
    if (boundary !== null) return formEntries(bytes, boundary, formFieldsAtMost)
    if (!formType.test(contentType)) throw refuse('bad_request', 'body: is no form')
    const text = utf8Text(bytes)
    if (text.split('&', formFieldsAtMost + 1).length > formFieldsAtMost) throw tooManyFields()
    return [...new URLSearchParams(text)]
  }
}
