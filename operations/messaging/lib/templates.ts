/** Approved templates, for the sections that send them. */
import type { Context } from '#runtime/context'

export interface Template {
  id: number
  name: string
  language: string
  category: string
  status: string
  header: {
    type: 'text' | 'image' | 'video' | 'document' | 'location'
    text: string | null
    mediaUrl: string | null
  } | null
  body: string
  footer: string | null
  buttons: { type: string; text: string | null; url: string | null; phone: string | null }[]
  placeholders: { header: number; body: number; buttons: number }
}

/** A template of the store, or null. */
export async function get(_ctx: Context, _id: number): Promise<Template | null> {
  throw new Error('being written')
}

export interface Rendered {
  header: string | null
  body: string
  footer: string | null
  buttons: { type: string; text: string | null; url: string | null }[]
}

/** Fills the numbered placeholders; pure. */
export function render(
  _template: Template,
  _parameters: { header: string[]; body: string[]; buttons: string[] },
): Rendered {
  throw new Error('being written')
}
