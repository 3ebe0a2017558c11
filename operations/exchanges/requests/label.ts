/** The owner key of a request's shipping label, when the file is one of ours. */
export const getLabelOwner = (requestId: string): string => `exchange-label:${requestId}`
