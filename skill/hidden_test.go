package skill

// Types of skills' inputs and outputs that tests outside of the package decode.
type (
	ResourceSet     = resourceSet
	ResourcesOutput = resourcesOutput
	TagCount        = tagCount
	TagInput        = tagInput
	Updated         = updated
)
