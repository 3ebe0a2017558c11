import { wiring } from '#runtime/wiring'
import { metadataPath } from './discovery/metadata.ts'

export default wiring({ resourceMetadata: { path: metadataPath } })
