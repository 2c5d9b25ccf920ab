package preset

// Signature is what a style needs besides the secret.
type Signature struct {
	Header   *string `json:"header,omitempty" nullable:"true" maxLength:"100" doc:"Of header, where the signature stands. Of bearer, where the secret stands: Authorization when not given."`
	Prefix   *string `json:"prefix,omitempty" nullable:"true" maxLength:"50" doc:"Of header and bearer, what stands before it."`
	Encoding *string `json:"encoding,omitempty" nullable:"true" enum:"hex,base64" doc:"Of header, how the HMAC is written: hex when not given."`
	Username *string `json:"username,omitempty" nullable:"true" maxLength:"200" doc:"Of basic. The password is the secret."`
	TopicARN *string `json:"topicArn,omitempty" nullable:"true" maxLength:"300" doc:"Of sns, the topic whose messages are taken."`
}

// The encodings of an HMAC.
const (
	Hex    = "hex"
	Base64 = "base64"
)
