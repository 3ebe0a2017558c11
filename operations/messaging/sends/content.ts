/** Parses the content of a single message, and refuses fields that do not fit its type. */
import { refuse } from '#runtime/errors'
import { isHttpsAddress } from '#runtime/values/https'
import { countCharacters, truncate } from '#runtime/values/truncate'
import type { Content } from '../sending/deliver.ts'
import type { SendInput } from './schema.ts'

const bad = (field: string, problem: string) => refuse('bad_request', `${field}: ${problem}`)
const maxCaptionLength = 1024

export interface Parameters {
  header: string[]
  body: string[]
  buttons: string[]
}

/** Parses the content of a message. A template's parameters are checked later, once the template is loaded. */
export function parseContent(input: SendInput, publicUrl: string): Content {
  const { text = null, mediaUrl = null, officialapiTemplateId: templateId = null } = input
  const type = input.type ?? (templateId === null ? 'text' : 'template')
  const misfit = (field: string) => bad(field, `does not belong to a message of type ${type}`)
  if (type === 'template') {
    if (templateId === null) throw bad('officialapiTemplateId', 'is required for a message of type template')
    if (text !== null) throw misfit('text')
    if (mediaUrl !== null) throw misfit('mediaUrl')
    const { header = [], body = [], buttons = [] } = input.templateParameters ?? {}
    return { kind: 'template', templateId, parameters: { header, body, buttons }, media: null }
  }
  if (templateId !== null) throw misfit('officialapiTemplateId')
  if (input.templateParameters) throw misfit('templateParameters')
  if (type === 'text') {
    if (mediaUrl !== null) throw misfit('mediaUrl')
    if (text === null || text.trim() === '') throw bad('text', 'is required')
    return { kind: 'text', text, media: null }
  }
  if (mediaUrl === null) throw bad('mediaUrl', `is required for a message of type ${type}`)
  refuseForeignAddress(mediaUrl, publicUrl)
  if (text !== null && countCharacters(text) > maxCaptionLength) {
    throw bad('text', `must have at most ${maxCaptionLength} characters as a caption`)
  }
  return {
    kind: 'text',
    text: text ?? '',
    media: { type, url: mediaUrl, fileName: parseFileName(type, mediaUrl) },
  }
}

function refuseForeignAddress(url: string, publicUrl: string): void {
  if (!isHttpsAddress(url) && !url.startsWith(`${publicUrl}/files/`)) {
    throw bad('mediaUrl', "must be an https address, or one of this server's storage")
  }
}

/** The file name shown on the phone. */
function parseFileName(type: string, url: string): string | null {
  if (type !== 'document') return null
  const [path = ''] = url.split(/[?#]/)
  const last = path.slice(path.lastIndexOf('/') + 1)
  return truncate(last, 200) || null
}
