/** The types of the registry: every operation, job and page, checked and frozen. */

import type { AnyExtensionPoint, MergedExtensions, SectionExtensions } from '#runtime/extensions'
import type { Job } from '#runtime/job'
import type { Operation } from '#runtime/operation'
import type { Page } from '#runtime/page'
import type { Role } from '#runtime/roles'
import type { Section } from '#runtime/section'

export interface LoadedOperation {
  readonly id: string
  readonly file: string
  readonly section: Section
  readonly spec: Operation['spec']
  readonly minimumRole: Role
  /** Names of the path's parameters, in their order. */
  readonly parameters: readonly string[]
}

export interface LoadedExtensionPoints {
  readonly file: string
  readonly declared: Readonly<Record<string, AnyExtensionPoint>>
}
export interface LoadedExtensions {
  readonly file: string
  readonly given: SectionExtensions
}

export interface Registry {
  /** All operations, in the order of the documents. */
  readonly operations: readonly LoadedOperation[]
  readonly jobs: readonly Job[]
  readonly pages: readonly Page[]
  readonly sections: readonly Section[]
  /** The merged extensions, and the sections that they come from. */
  readonly extensions: MergedExtensions
  readonly extensionPoints: readonly LoadedExtensionPoints[]
  readonly sectionExtensions: readonly LoadedExtensions[]
  byId(id: string): LoadedOperation | undefined
}
