/** Templates of an official number at the Cloud API. */

import { Refused, Unavailable } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { z } from '#runtime/schema'
import { toRejectionReason } from '../template-hooks.ts'
import type { ProviderTemplate, TemplateContent, TemplatePort, TemplateStatus } from '../template-port.ts'
import { toCallError } from './errors.ts'
import { type Graph, GraphFailure, parseJson, toNetworkError } from './graph.ts'
import type { WhatsappCredentials } from './options.ts'
import { listedComponents, toComponents, toContent } from './template-components.ts'

const pageSize = '100'
const exists = 2388024
const recentlyDeleted = 2388023
const fields = 'id,name,language,category,status,components,rejected_reason,quality_score'

const statuses: Readonly<Record<string, TemplateStatus>> = {
  APPROVED: 'approved',
  PENDING: 'pending',
  IN_APPEAL: 'pending',
  REJECTED: 'rejected',
  FLAGGED: 'approved',
  UNARCHIVED: 'approved',
  PAUSED: 'paused',
  LOCKED: 'paused',
  DISABLED: 'disabled',
  ARCHIVED: 'disabled',
  LIMIT_EXCEEDED: 'disabled',
}
const toStatus = (value: string | null | undefined): TemplateStatus => statuses[value ?? ''] ?? 'pending'
const qualities = { GREEN: 'green', YELLOW: 'yellow', RED: 'red' } as const

const createdShape = z.object({ id: z.union([z.string(), z.number()]), status: z.string().nullish() })
const listedShape = z.object({
  id: z.union([z.string(), z.number()]),
  name: z.string(),
  language: z.string(),
  category: z.string(),
  status: z.string(),
  rejected_reason: z.string().nullish(),
  quality_score: z.object({ score: z.string() }).partial().nullish(),
  components: listedComponents,
})
const pageShape = z.object({
  data: z.array(z.unknown()),
  paging: z
    .object({ next: z.string(), cursors: z.object({ after: z.string() }).partial() })
    .partial()
    .nullish(),
})

const readCredentials = (store: ProviderStore): WhatsappCredentials => {
  if (store.credentials) return store.credentials as WhatsappCredentials
  throw new Unavailable('no', 'The store has no access to the provider')
}

export class WhatsappTemplates implements TemplatePort {
  readonly #graph: Graph
  constructor(graph: Graph) {
    this.#graph = graph
  }

  createTemplate: TemplatePort['createTemplate'] = async (store, template) => {
    const { accessToken, accountId } = readCredentials(store)
    const { name, language, category } = template
    const answer = await this.#hand(
      accessToken,
      `${accountId}/message_templates`,
      { name, language, category: category.toUpperCase() },
      template,
    )
    const read = createdShape.safeParse(answer)
    if (!read.success)
      throw new Unavailable('unknown', 'The provider answered without an id for the template')
    return { providerId: String(read.data.id), status: toStatus(read.data.status) }
  }

  editTemplate: TemplatePort['editTemplate'] = async (store, providerId, template) => {
    const { accessToken } = readCredentials(store)
    const category = template.category.toUpperCase()
    await this.#hand(accessToken, providerId, { category }, template)
    return { status: 'pending' }
  }

  deleteTemplate: TemplatePort['deleteTemplate'] = async (store, { name, providerId }) => {
    const { accessToken, accountId } = readCredentials(store)
    try {
      await this.#graph.ask({
        method: 'DELETE',
        path: `${accountId}/message_templates`,
        query: { hsm_id: providerId, name },
        token: accessToken,
      })
    } catch (error) {
      if (!(error instanceof GraphFailure)) throw error
      const { code, subcode, message } = error.graph
      const isGone = code === 100 && (subcode === 2593002 || /not found|does not exist/i.test(message))
      if (!isGone) throw toCallError(error.graph)
    }
  }

  listTemplates: TemplatePort['listTemplates'] = async (store, cursor) => {
    const { accessToken, accountId } = readCredentials(store)
    const answer = await this.#graph.call({
      path: `${accountId}/message_templates`,
      query: { fields, limit: pageSize, ...(cursor ? { after: cursor } : {}) },
      token: accessToken,
    })
    const page = pageShape.safeParse(answer)
    if (!page.success) throw new Unavailable('no', 'The provider answered with a list of another form')
    const { data, paging } = page.data
    return {
      templates: data.flatMap((each) => parseListed(each) ?? []),
      next: paging?.next ? (paging.cursors?.after ?? null) : null,
    }
  }

  async #hand(token: string, path: string, head: object, template: TemplateContent): Promise<unknown> {
    const { header } = template
    const handle = header?.mediaUrl ? await this.#upload(token, header.mediaUrl) : null
    try {
      const body = { ...head, components: toComponents(template, handle) }
      return await this.#graph.ask({ method: 'POST', path, token, body })
    } catch (error) {
      if (!(error instanceof GraphFailure)) throw error
      const { subcode } = error.graph
      if (subcode === exists) {
        throw new Refused('template-exists', 'There is a template of this name and language already')
      }
      if (subcode === recentlyDeleted) {
        throw new Refused('template-deleted-lately', 'A template of this name was deleted there lately')
      }
      throw toCallError(error.graph)
    }
  }

  /** Uploads the example file of a media header with the API's resumable upload. Returns the file's handle. */
  async #upload(token: string, url: string): Promise<string> {
    const file = await this.#fetchFile(url)
    const { appId } = this.#graph.options
    const session = await this.#graph.call({
      method: 'POST',
      path: `${appId}/uploads`,
      query: { file_length: String(file.bytes.byteLength), file_type: file.contentType, file_name: 'header' },
      token,
    })
    const { id } = z.object({ id: z.string() }).parse(session)
    const { response, text } = await this.#graph.fetch(new URL(`${this.#graph.options.graphUrl}/${id}`), {
      method: 'POST',
      headers: { authorization: `OAuth ${token}`, file_offset: '0' },
      body: file.bytes,
    })
    const { status } = response
    // The error says `no`: the template was not submitted, only an unused upload session remains.
    if (status >= 500 || status === 429) {
      throw new Unavailable('no', 'The provider did not take the file of the header')
    }
    const read = z.object({ h: z.string() }).safeParse(response.ok ? parseJson(text) : null)
    if (!read.success)
      throw new Refused('media-refused', 'The provider could not take the file of the header')
    return read.data.h
  }

  async #fetchFile(url: string): Promise<{ bytes: ArrayBuffer; contentType: string }> {
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(15_000) })
      if (!response.ok) throw new Refused('media-refused', 'The file of the header could not be read')
      const contentType = response.headers.get('content-type') ?? 'application/octet-stream'
      return { bytes: await response.arrayBuffer(), contentType }
    } catch (error) {
      throw error instanceof Refused ? error : toNetworkError(error)
    }
  }
}

/** Parses a listed template. Null if the template is being deleted or is malformed. */
function parseListed(given: unknown): ProviderTemplate | null {
  const read = listedShape.safeParse(given)
  if (!read.success || /DELET/.test(read.data.status)) return null
  const { id, name, language, category, status, rejected_reason: reason, quality_score: quality } = read.data
  const ours = toStatus(status)
  return {
    providerId: String(id),
    name,
    language,
    category: category.toLowerCase(),
    ...toContent(read.data.components),
    status: ours,
    rejectionReason: ours === 'rejected' ? toRejectionReason(reason) : null,
    quality: qualities[quality?.score as keyof typeof qualities] ?? 'unknown',
    pausedUntil: null,
  }
}
