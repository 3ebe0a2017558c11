/** The part of the messaging port for an official number's templates. */
import type { ProviderStore } from '#runtime/ports/provider'

export interface TemplateContent {
  name: string
  language: string
  category: string
  header: { type: string; text: string | null; mediaUrl: string | null } | null
  body: string
  footer: string | null
  buttons: { type: string; text: string | null; url: string | null; phone: string | null }[]
  examples: { header: string[]; body: string[]; buttons: string[] }
}

export type TemplateStatus = 'pending' | 'approved' | 'rejected' | 'paused' | 'disabled'

export interface ProviderTemplate extends TemplateContent {
  providerId: string
  status: TemplateStatus
  /** One of the codes of `rejectionReason`. */
  rejectionReason: string | null
  quality: 'unknown' | 'green' | 'yellow' | 'red'
  pausedUntil: string | null
}

export interface TemplatePort {
  /** Refuses with `template-exists` if (name, language) is taken at the provider. */
  createTemplate(
    store: ProviderStore,
    template: TemplateContent,
  ): Promise<{ providerId: string; status: TemplateStatus }>
  editTemplate(
    store: ProviderStore,
    providerId: string,
    template: TemplateContent,
  ): Promise<{ status: TemplateStatus }>
  /** Deletes the template in its language only; succeeds if it is deleted already. */
  deleteTemplate(store: ProviderStore, template: { name: string; providerId: string }): Promise<void>
  listTemplates(
    store: ProviderStore,
    cursor?: string,
  ): Promise<{ templates: ProviderTemplate[]; next: string | null }>
}

/** `data` of an event of kind `template-status`. */
export interface TemplateStatusData {
  providerId: string
  /** `gone`: deleted at the provider. */
  status: TemplateStatus | 'gone'
  rejectionReason: string | null
  pausedUntil: string | null
}

/** `data` of an event of kind `template-quality`. */
export interface TemplateQualityData {
  providerId: string
  quality: 'unknown' | 'green' | 'yellow' | 'red'
}

/** `data` of an event of kind `template-category`. */
export interface TemplateCategoryData {
  providerId: string
  category: string
  /** True if the change is announced, but not in effect yet. */
  isToCome?: boolean
  /** When it takes effect, if the provider says so. */
  from?: string | null
}

/** `data` of an event of kind `template-flagged`: the template will be disabled unless its ratings improve. */
export interface TemplateFlaggedData {
  providerId: string
  disabledAt: string | null
}
