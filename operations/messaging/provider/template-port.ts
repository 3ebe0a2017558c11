/** What a messaging provider does for an official number's templates. */
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
  /** Refuses with `template-exists` where (name, language) is taken there. */
  createTemplate(
    store: ProviderStore,
    template: TemplateContent,
  ): Promise<{ providerId: string; status: TemplateStatus }>
  editTemplate(
    store: ProviderStore,
    providerId: string,
    template: TemplateContent,
  ): Promise<{ status: TemplateStatus }>
  /** That language only; what is gone is success. */
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
  /** It is not of that category yet. */
  isToCome?: boolean
  /** When it will be, where the provider says so. */
  from?: string | null
}

/** `data` of an event of kind `template-flagged`: it will be disabled unless people like it better. */
export interface TemplateFlaggedData {
  providerId: string
  disabledAt: string | null
}
