import java.security.MessageDigest;
import java.util.Base64;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Webhooks {
    static boolean verify(String secret, Map<String, String> headers, byte[] body) throws Exception {
        String sent = headers.get("webhook-timestamp");
        if (Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(sent)) > 300) {
            return false; // too old: somebody may have kept it
        }
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret.replaceFirst("^whsec_", "")), "HmacSHA256"));
        mac.update((headers.get("webhook-id") + "." + sent + ".").getBytes());
        byte[] ours = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes();
        for (String one : headers.get("webhook-signature").split(" ")) {
            if (MessageDigest.isEqual(one.getBytes(), ours)) return true;
        }
        return false;
    }
}
